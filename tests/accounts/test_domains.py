"""Domains: verified by DNS alone, and who has an address there joins or asks to."""

import socket
import threading

import dns.message
import dns.rrset
import pytest

from backend.accounts.domains import (
    domain_add,
    domain_delete,
    domain_join,
    domain_join_set,
    domain_joins_at_once,
    domain_offer,
    domain_verify,
    join_request_decide,
    record_name,
    record_value,
)
from backend.accounts.models import JoinRequest, Membership, Role, User
from backend.accounts.team_selectors import join_requests_page
from backend.platform.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    Overloaded,
    PermissionDenied,
)
from tests.factories import UserFactory, member

pytestmark = pytest.mark.django_db


class NameServer:
    """Answers TXT queries from `records`; a real one, on a port of this machine."""

    def __init__(self):
        self.records = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def publish(self, domain):
        self.records[record_name(domain) + "."] = record_value(domain)

    def close(self):
        self._socket.close()

    def _serve(self):
        while True:
            try:
                data, client = self._socket.recvfrom(2048)
            except OSError:
                return
            query = dns.message.from_wire(data)
            name = query.question[0].name
            answer = dns.message.make_response(query)
            text = self.records.get(str(name))
            if text is not None:
                answer.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", f'"{text}"'))
            self._socket.sendto(answer.to_wire(), client)


@pytest.fixture
def names(settings):
    server = NameServer()
    settings.DNS_SERVERS = [server.address]
    yield server
    server.close()


def verified_domain(owner, names, join, domain="works.example"):
    added = domain_add(principal=owner, domain=domain, join=join)
    names.publish(added)
    return domain_verify(principal=owner, domain_id=added.pk)


def test_domain_counts_once_its_record_is_found(names):
    owner = member()
    added = domain_add(principal=owner, domain=" @Works.Example. ", join="automatic")
    assert added.domain == "works.example"
    newcomer = UserFactory.create(email="ada@works.example")

    assert not domain_joins_at_once(newcomer)
    with pytest.raises(InvalidRequest) as refused:
        domain_verify(principal=owner, domain_id=added.pk)
    assert refused.value.code == "record_missing"
    names.records[record_name(added) + "."] = "parley-verification=another"
    with pytest.raises(InvalidRequest):
        domain_verify(principal=owner, domain_id=added.pk)
    names.publish(added)
    domain_verify(principal=owner, domain_id=added.pk)

    assert domain_joins_at_once(newcomer)
    joined = Membership.objects.get(user=newcomer)
    assert (joined.organization_id, joined.role) == (owner.organization_id, Role.MEMBER)
    domain_delete(principal=owner, domain_id=added.pk)
    assert not domain_joins_at_once(UserFactory.create(email="bob@works.example"))


def test_silent_dns_is_no_verdict(settings):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        settings.DNS_SERVERS = [f"127.0.0.1:{free.getsockname()[1]}"]
    owner = member()
    added = domain_add(principal=owner, domain="works.example", join="request")

    with pytest.raises(Overloaded):
        domain_verify(principal=owner, domain_id=added.pk)


def test_second_organization_cannot_verify_a_verified_domain(names):
    verified_domain(member(), names, "request")
    with pytest.raises(Conflict):
        verified_domain(member(), names, "automatic")


def test_person_asks_and_an_admin_decides(names):
    owner, outsider = member(), member()
    verified_domain(owner, names, "request")
    asking = User.objects.get(pk=member(email="ada@works.example").user_id)
    unverified = UserFactory.create(email="bob@works.example", verified=False)

    assert domain_offer(user_id=unverified.pk) is None
    with pytest.raises(NotFound):
        domain_join(user_id=unverified.pk)
    assert domain_join(user_id=asking.pk) is None
    assert domain_join(user_id=asking.pk) is None  # twice is once
    request = join_requests_page(principal=owner, after=None, limit=10).items[0]
    assert request.user == asking
    with pytest.raises(NotFound):
        join_request_decide(principal=outsider, request_id=request.pk, accept=True)
    join_request_decide(principal=owner, request_id=request.pk, accept=True)

    assert Membership.objects.filter(user=asking).count() == 2
    assert not JoinRequest.objects.exists()
    assert domain_offer(user_id=asking.pk) is None


def test_declined_request_is_gone_and_only_managers_decide(names):
    owner = member()
    domain = verified_domain(owner, names, "automatic")
    domain_join_set(principal=owner, domain_id=domain.pk, join="request")
    ordinary = member(organization=domain.organization, role=Role.MEMBER)
    asking = UserFactory.create(email="ada@works.example")
    domain_join(user_id=asking.pk)
    request = JoinRequest.objects.get()

    with pytest.raises(PermissionDenied):
        join_request_decide(principal=ordinary, request_id=request.pk, accept=True)
    join_request_decide(principal=owner, request_id=request.pk, accept=False)

    assert not Membership.objects.filter(user=asking).exists()
    assert not JoinRequest.objects.exists()


@pytest.mark.parametrize("name", ["example", "a..b", "-a.example", "a b.example", "1.2.3.4", ""])
def test_malformed_domain_is_refused(name):
    with pytest.raises(InvalidRequest) as refused:
        domain_add(principal=member(), domain=name, join="request")
    assert refused.value.param == "domain"
