import type { ReactNode } from "react";
import { Logo } from "@/ui/logo";
import { LanguagePicker } from "./language-picker";

interface AuthLayoutProps {
  title: string;
  children: ReactNode;
  footer: ReactNode;
}

/** The frame of the pages before the sign-in. */
export function AuthLayout({ title, children, footer }: AuthLayoutProps) {
  return (
    <main className="flex h-full flex-col items-center overflow-y-auto px-5 py-10">
      <div className="my-auto flex w-full max-w-[22rem] flex-col gap-7">
        <div className="flex flex-col items-center gap-6">
          <Logo large />
          <h1 className="font-semibold text-2xl tracking-tight">{title}</h1>
        </div>
        {children}
        <p className="text-center text-muted-foreground text-sm">{footer}</p>
        <LanguagePicker />
      </div>
    </main>
  );
}
