import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import type { Model } from "@/api/types";
import { Button } from "@/ui/button";
import { Checkbox } from "@/ui/checkbox";
import { Dialog, DialogActions } from "@/ui/dialog";
import { MOST_MODELS } from "./compare";

interface CompareDialogProps {
  models: Model[];
  /** The one that is chosen at first. */
  first: string;
  comparing: { value: string[]; onChange: (ids: string[]) => void };
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** Chooses the models that answer the next message side by side. */
export function CompareDialog({ open, onOpenChange, ...choice }: CompareDialogProps) {
  const most = MOST_MODELS;
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t`Compare models`}
      description={t`Two to ${most} models answer your next message side by side, without tools. Each answer is counted like any other.`}
    >
      {open && <Choice {...choice} close={() => onOpenChange(false)} />}
    </Dialog>
  );
}

interface ChoiceProps extends Omit<CompareDialogProps, "open" | "onOpenChange"> {
  close: () => void;
}

function Choice({ models, first, comparing, close }: ChoiceProps) {
  const [chosen, setChosen] = useState(
    comparing.value.length > 0
      ? comparing.value
      : models.some((m) => m.id === first)
        ? [first]
        : [],
  );
  const full = chosen.length >= MOST_MODELS;
  return (
    <>
      <fieldset className="flex flex-col gap-3">
        <legend className="sr-only">
          <Trans>Models</Trans>
        </legend>
        {models.map(({ id, name }) => (
          <Checkbox
            key={id}
            label={name}
            checked={chosen.includes(id)}
            disabled={full && !chosen.includes(id)}
            onChange={(on) => setChosen(on ? [...chosen, id] : chosen.filter((one) => one !== id))}
          />
        ))}
      </fieldset>
      <DialogActions>
        {comparing.value.length > 0 && (
          <Button
            variant="outline"
            onClick={() => {
              comparing.onChange([]);
              close();
            }}
          >
            <Trans>Do not compare</Trans>
          </Button>
        )}
        <Button
          disabled={chosen.length < 2}
          onClick={() => {
            comparing.onChange(chosen);
            close();
          }}
        >
          <Trans context="verb">Compare</Trans>
        </Button>
      </DialogActions>
    </>
  );
}
