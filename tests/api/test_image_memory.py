"""Large images from many at once: what they take of memory, and who else is served meanwhile."""

import asyncio
import base64
import io
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from PIL import Image

from backend.conversations import attachments
from backend.platform.bounded_threads import BoundedThreads
from backend.platform.database import in_database
from backend.platform.errors import Overloaded
from safety.judge import images
from safety.judge.decoding import MAX_PIXELS, UnreadableImage, image_decode
from tests.api.asgi_client import AsgiClient
from tests.api.users import sign_up
from tests.factories import api_key_of
from tests.support.scripted import ScriptedProduct

MEMORY_OF_A_POD = 1024**3
# Decoded at once, three would end a process.
UPLOADS = 3


def large_jpeg(side: tuple[int, int] = (7740, 5160), **options: object) -> bytes:
    """Close to 40 megapixels, with something in each of them."""
    assert side[0] * side[1] <= MAX_PIXELS
    target = io.BytesIO()
    small = Image.effect_noise((side[0] // 8, side[1] // 8), 60)
    small.convert("RGB").resize(side).save(target, "JPEG", quality=50, **options)
    return target.getvalue()


def peak_memory(pid: int) -> int:
    """The most that a process has had in memory, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    [kilobytes] = re.findall(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(kilobytes) * 1024


@pytest.mark.timeout(600)
def test_memory_stays_below_a_pods_limit_when_many_large_images_arrive(
    scripted_product: ScriptedProduct, capsys: pytest.CaptureFixture[str]
) -> None:
    url, pid = scripted_product.url, scripted_product.webs[0].process.pid
    person = sign_up(url)
    data = large_jpeg(progressive=True, subsampling=0)  # the most that a decoder can be made to use

    def upload(_: int) -> int:
        with httpx.Client(
            base_url=url, cookies=dict(person.browser.cookies), timeout=300
        ) as client:
            return client.post(
                "/api/attachments",
                files={"file": ("photo.jpg", data)},
                headers={"X-CSRFToken": person.browser.cookies["csrftoken"]},
            ).status_code

    slowest = 0.0
    with ThreadPoolExecutor(UPLOADS) as pool:
        uploads = [pool.submit(upload, n) for n in range(UPLOADS)]
        while not all(future.done() for future in uploads):
            asked = time.perf_counter()
            assert httpx.get(f"{url}/healthz", timeout=30).status_code == 200
            slowest = max(slowest, time.perf_counter() - asked)
            time.sleep(0.1)
    peak = peak_memory(pid)
    with capsys.disabled():
        print(f"peak {peak / 2**20:.0f} MiB, slowest /healthz {slowest * 1000:.0f} ms")
    assert [future.result() for future in uploads] == [201] * UPLOADS
    assert peak < MEMORY_OF_A_POD


@pytest.mark.usefixtures("transactional_db")
async def test_one_image_is_decoded_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lock, running, most = threading.Lock(), 0, 0

    def counted(data: bytes, *, side: int) -> Image.Image:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        try:
            time.sleep(0.05)
            return image_decode(data, side=side)
        finally:
            with lock:
                running -= 1

    monkeypatch.setattr(attachments, "image_decode", counted)
    monkeypatch.setattr(images, "image_decode", counted)
    images.memory_clear()
    _, secret = await in_database(api_key_of)
    uploads = [large_jpeg((64 + n, 48)) for n in range(8)]
    async with AsgiClient(headers={"Authorization": f"Bearer {secret}"}) as caller:
        answers = await asyncio.gather(
            *(
                caller.post("/api/attachments", files={"file": ("a.jpg", data)})
                for data in uploads[:4]
            ),
            *(
                caller.post("/v1/moderations", json={"input": [as_part(data)]})
                for data in uploads[4:]
            ),
        )
    assert sorted(answer.status_code for answer in answers) == [200] * 4 + [201] * 4
    assert most == 1


def as_part(data: bytes) -> dict[str, object]:
    encoded = base64.b64encode(data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{encoded}"}}


async def test_thread_pool_refuses_calls_over_its_bound_and_finishes_cancelled_ones() -> None:
    threads = BoundedThreads("test", at_once=1, waiting=1)
    began, go_on = threading.Event(), threading.Event()

    def work() -> str:
        began.set()
        go_on.wait(10)
        return "done"

    left = asyncio.ensure_future(threads.run(work))
    await asyncio.to_thread(began.wait, 10)
    left.cancel()  # the caller leaves; the thread is still busy, and counted
    waiting = asyncio.ensure_future(threads.run(work))
    await asyncio.sleep(0)
    with pytest.raises(Overloaded) as refused:
        await threads.run(work)
    assert refused.value.retry_after
    go_on.set()
    assert await waiting == "done"
    assert await threads.run(work) == "done"


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK", "P", "1", "I;16", "RGBA", "LA"])
def test_every_image_format_is_scaled_down_and_keeps_its_colour(mode: str) -> None:
    target = io.BytesIO()
    kind = "JPEG" if mode == "CMYK" else "PNG"
    image = Image.new("RGB", (2100, 700), (200, 30, 30)).convert(mode if mode != "I;16" else "L")
    if mode == "I;16":
        image = Image.new("I;16", (2100, 700), 70)
    image.save(target, kind)
    data, content_type, _ = attachments._image_clean(target.getvalue())
    clean = Image.open(io.BytesIO(data))
    assert clean.size == (2048, 683)
    assert content_type == ("image/jpeg" if kind == "JPEG" else "image/png")
    red, green, _ = clean.convert("RGB").getpixel((1000, 300))  # type: ignore[misc]
    if mode in {"RGB", "CMYK", "P", "RGBA"}:
        assert red > 150 and green < 90


def test_formats_other_than_jpeg_may_have_half_the_pixels() -> None:
    target = io.BytesIO()
    Image.new("L", (6000, 5000)).save(target, "PNG")
    with pytest.raises(UnreadableImage, match="20 million are allowed in a PNG"):
        image_decode(target.getvalue(), side=2048)
    target = io.BytesIO()
    Image.new("L", (6000, 5000)).save(target, "JPEG")
    assert image_decode(target.getvalue(), side=2048).size == (3000, 2500)
    target = io.BytesIO()
    Image.new("L", (60_000, 1)).save(target, "JPEG")
    assert image_decode(target.getvalue(), side=2048).size[0] >= 2048
