import { useEffect, useState } from "react";

/** Whole seconds until `deadline` (ms since the epoch), down to 0; 0 when there is none. */
export function useCountdown(deadline: number | null): number {
  const [now, setNow] = useState(Date.now);
  const left = deadline === null ? 0 : Math.max(0, Math.ceil((deadline - now) / 1000));
  const running = left > 0;
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [running]);
  return left;
}
