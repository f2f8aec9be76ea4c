import type { ReactNode } from "react";

const SAFE_PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

/** The address if it is absolute and of a protocol that cannot run code here; else null. */
export function safeHref(href: string | undefined): string | null {
  if (!href) return null;
  try {
    const url = new URL(href);
    return SAFE_PROTOCOLS.has(url.protocol) ? url.href : null;
  } catch {
    return null; // relative: an answer has no place of its own that it could be relative to
  }
}

interface SafeLinkProps {
  href: string | undefined;
  children: ReactNode;
}

/** A link that opens elsewhere and learns nothing about us; unsafe addresses stay plain text. */
export function SafeLink({ href, children }: SafeLinkProps) {
  const safe = safeHref(href);
  if (!safe) return <span>{children}</span>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
