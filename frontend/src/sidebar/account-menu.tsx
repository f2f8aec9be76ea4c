import { Trans } from "@lingui/react/macro";
import {
  Archive,
  ArrowLeftRight,
  ChartColumn,
  CircleHelp,
  CreditCard,
  FolderKanban,
  Keyboard,
  KeyRound,
  LogOut,
  MessagesSquare,
  Settings,
  Terminal,
  Users,
} from "lucide-react";
import { useNavigate } from "react-router";
import { patchMe, signOut } from "@/api/account";
import { managesMoney } from "@/api/billing";
import { errorMessage } from "@/api/errors";
import { useLayout } from "@/app/layout-state";
import { useMe, useSetMe } from "@/app/session";
import { Menu, MenuItem, MenuSeparator } from "@/ui/menu";
import { toast } from "@/ui/toast";

/** Who is signed in, and the pages about the account. */
export function AccountMenu() {
  const me = useMe();
  const setMe = useSetMe();
  const navigate = useNavigate();
  const name = me.user.name || me.user.email;
  const leave = async () => {
    try {
      await signOut();
      setMe(null);
    } catch (error) {
      toast(errorMessage(error));
    }
  };
  const others = me.organizations.filter(({ id }) => id !== me.organization.id).slice(0, 10);
  const switchTo = async (organizationId: string) => {
    try {
      setMe(await patchMe({ organization_id: organizationId }));
      void navigate("/");
    } catch (error) {
      toast(errorMessage(error));
    }
  };
  return (
    <Menu
      side="top"
      className="w-(--anchor-width) min-w-56"
      trigger={
        <button
          type="button"
          className="flex w-full cursor-pointer items-center gap-2.5 rounded-lg p-2 text-start hover:bg-hover data-popup-open:bg-hover"
        >
          <Avatar name={name} />
          <span className="flex min-w-0 flex-col leading-tight">
            <span className="truncate font-medium text-sm">
              <Trans>
                <span className="sr-only">Account of </span>
                <bdi>{name}</bdi>
              </Trans>
            </span>
            <span className="truncate text-muted-foreground text-xs">
              <bdi>{me.organization.name}</bdi> ·{" "}
              <span className="capitalize">{me.organization.plan}</span>
            </span>
          </span>
        </button>
      }
    >
      <MenuItem icon={<Settings aria-hidden />} onSelect={() => void navigate("/settings")}>
        <Trans>Settings</Trans>
      </MenuItem>
      <MenuItem icon={<ChartColumn aria-hidden />} onSelect={() => void navigate("/usage")}>
        <Trans>Usage</Trans>
      </MenuItem>
      {managesMoney(me.role) && (
        <MenuItem icon={<CreditCard aria-hidden />} onSelect={() => void navigate("/billing")}>
          <Trans>Billing</Trans>
        </MenuItem>
      )}
      <MenuItem icon={<KeyRound aria-hidden />} onSelect={() => void navigate("/keys")}>
        <Trans>API keys</Trans>
      </MenuItem>
      <MenuItem icon={<Terminal aria-hidden />} onSelect={() => void navigate("/playground")}>
        <Trans>Playground</Trans>
      </MenuItem>
      <MenuItem icon={<Users aria-hidden />} onSelect={() => void navigate("/organization")}>
        <Trans>Organization</Trans>
      </MenuItem>
      <MenuItem icon={<FolderKanban aria-hidden />} onSelect={() => void navigate("/projects")}>
        <Trans>Projects</Trans>
      </MenuItem>
      <MenuItem icon={<MessagesSquare aria-hidden />} onSelect={() => void navigate("/chats")}>
        <Trans>Your chats</Trans>
      </MenuItem>
      <MenuItem icon={<Archive aria-hidden />} onSelect={() => void navigate("/archived")}>
        <Trans>Archived chats</Trans>
      </MenuItem>
      <MenuItem
        icon={<Keyboard aria-hidden />}
        className="pointer-coarse:hidden"
        onSelect={() => useLayout.getState().setShortcuts(true)}
      >
        <Trans>Keyboard shortcuts</Trans>
      </MenuItem>
      <MenuItem icon={<CircleHelp aria-hidden />} onSelect={() => void navigate("/help")}>
        <Trans>Help</Trans>
      </MenuItem>
      {others.length > 0 && <MenuSeparator />}
      {others.map(({ id, name }) => (
        <MenuItem key={id} icon={<ArrowLeftRight aria-hidden />} onSelect={() => void switchTo(id)}>
          <span className="truncate">
            <Trans>Work in {name}</Trans>
          </span>
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem icon={<LogOut aria-hidden />} onSelect={() => void leave()}>
        <Trans>Sign out</Trans>
      </MenuItem>
    </Menu>
  );
}

function Avatar({ name }: { name: string }) {
  const initials = name
    .split(/[\s@.]+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join("");
  return (
    <span
      aria-hidden
      className="flex size-8 shrink-0 items-center justify-center rounded-full bg-primary font-medium text-primary-foreground text-xs"
    >
      {initials}
    </span>
  );
}
