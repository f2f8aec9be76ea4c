import { useModelList } from "@/chat/queries";

/** The first model that can hear or speak now; null where there is none. */
export function useVoiceModel(capability: "transcriptions" | "speech"): string | null {
  const found = useModelList().data.find(
    (model) => model.capabilities.includes(capability) && model.status !== "unavailable",
  );
  return found?.id ?? null;
}
