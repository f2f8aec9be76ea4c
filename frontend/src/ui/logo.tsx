/** The mark and the name. */
export function Logo({ large = false }: { large?: boolean }) {
  return (
    <span className="flex items-center gap-2 font-semibold tracking-tight">
      <svg viewBox="0 0 32 32" aria-hidden="true" className={large ? "size-9" : "size-6"}>
        <rect width="32" height="32" rx="9" className="fill-primary" />
        <path
          d="M10 23.5V9.5h7.2a4.9 4.9 0 0 1 0 9.8H13"
          className="fill-none stroke-primary-foreground"
          strokeWidth="2.8"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
        <circle cx="22.4" cy="22.6" r="1.9" className="fill-ring" />
      </svg>
      <span className={large ? "text-2xl" : "text-[1.05rem]"}>Parley</span>
    </span>
  );
}
