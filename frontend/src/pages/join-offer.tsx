import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getMe } from "@/api/account";
import { getJoinOffer, takeJoinOffer } from "@/api/teams";
import { useSetMe } from "@/app/session";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { useChange } from "./use-change";

const key = ["join-offer"] as const;

/** The organization that takes people by the domain of their address, if one does. */
export function JoinOffer() {
  const client = useQueryClient();
  const setMe = useSetMe();
  const offer = useQuery({ queryKey: key, queryFn: getJoinOffer });
  const take = useChange(key, takeJoinOffer, ({ joined }) => {
    if (joined) void getMe().then(setMe);
    else void client.invalidateQueries({ queryKey: key });
  });
  if (!offer.data?.organization) return null;
  const { organization, join, asked } = offer.data;
  if (asked) {
    return (
      <Notice tone="info">
        <Trans>You asked to join {organization}; an owner or admin decides.</Trans>
      </Notice>
    );
  }
  return (
    <Notice
      tone="info"
      actions={
        <Button size="sm" busy={take.isPending} onClick={() => take.mutate(undefined)}>
          {join === "automatic" ? t({ message: "Join", context: "verb" }) : t`Ask to join`}
        </Button>
      }
    >
      <Trans>{organization} takes members by your e-mail address.</Trans>
    </Notice>
  );
}
