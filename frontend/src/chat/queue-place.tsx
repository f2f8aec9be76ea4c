import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { getQueuePlace } from "@/api/conversations";

const ASK_AFTER_MS = 1_500;
const ASK_EVERY_MS = 2_000;

/** "Position 12 in the queue, about 8 s", while an answer waits for its place; else nothing. */
export function QueuePlace({ generationId }: { generationId: string }) {
  const [waits, setWaits] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setWaits(true), ASK_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  const { data } = useQuery({
    queryKey: ["queue", generationId],
    queryFn: () => getQueuePlace(generationId),
    refetchInterval: ASK_EVERY_MS,
    enabled: waits,
    gcTime: 0,
  });
  if (!data?.position) return null;
  const { position } = data;
  const seconds = data.wait_s ? Math.ceil(data.wait_s) : null;
  return (
    <span className="text-muted-foreground text-sm">
      {seconds === null
        ? t`Position ${position} in the queue`
        : t`Position ${position} in the queue, about ${seconds} s`}
    </span>
  );
}
