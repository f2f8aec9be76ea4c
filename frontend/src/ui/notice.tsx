import { CircleAlert, HeartHandshake, Info, ShieldAlert, WifiOff } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "@/lib/cn";

const tones = {
  error: { icon: CircleAlert, className: "border-destructive/30 bg-destructive/8", role: "alert" },
  warning: { icon: CircleAlert, className: "border-warning/35 bg-warning/10", role: "status" },
  blocked: { icon: ShieldAlert, className: "border-warning/35 bg-warning/10", role: "status" },
  offline: { icon: WifiOff, className: "border-border bg-muted", role: "status" },
  support: { icon: HeartHandshake, className: "border-border bg-muted", role: "status" },
  info: { icon: Info, className: "border-border bg-muted", role: "status" },
} as const;

interface NoticeProps {
  tone: keyof typeof tones;
  title?: string;
  children?: ReactNode;
  /** Buttons at the end of the notice. */
  actions?: ReactNode;
  className?: string;
}

/** A state that the reader must know about, in words, where it matters. */
export function Notice({ tone, title, children, actions, className }: NoticeProps) {
  const { icon: Icon, className: toneClass, role } = tones[tone];
  return (
    <div
      role={role}
      className={cn(
        "flex items-start gap-3 rounded-2xl border px-4 py-3 text-sm",
        toneClass,
        className,
      )}
    >
      <Icon aria-hidden className="mt-0.5 size-4.5 shrink-0" />
      <div className="flex min-w-0 flex-1 flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          {title && <p className="font-medium">{title}</p>}
          {children && <div className="text-muted-foreground">{children}</div>}
        </div>
        {actions && <div className="flex gap-2">{actions}</div>}
      </div>
    </div>
  );
}
