/** The model of the next new chat: the last one chosen, as long as it exists. */
import { create } from "zustand";
import type { Model } from "@/api/types";
import { readStored, writeStored } from "@/lib/storage";

const KEY = "parley.model";

interface ChosenModel {
  chosen: string | null;
  choose: (id: string) => void;
}

export const useChosenModel = create<ChosenModel>((set) => ({
  chosen: readStored(KEY),
  choose: (id) => {
    writeStored(KEY, id);
    set({ chosen: id });
  },
}));

export function modelForNewChat(models: Model[], chosen: string | null): Model | undefined {
  return models.find(({ id }) => id === chosen) ?? models[0];
}
