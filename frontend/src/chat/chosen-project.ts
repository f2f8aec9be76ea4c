/** The project of a chat: the conversation's, or the one chosen for the next new chat. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { patchConversation } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import { allProjects } from "@/api/teams";
import type { Conversation, Project } from "@/api/types";
import { useMe } from "@/app/session";
import { toast } from "@/ui/toast";
import { changeShown } from "./cache";

const NONE: Project[] = [];

/** Those that the person may use, and the default one's id. */
export function useProjects() {
  const me = useMe();
  const list = useQuery({
    // Read anew with all lists of projects (pages/projects.tsx).
    queryKey: ["projects", "of-chats", me.organization.id],
    queryFn: allProjects,
    staleTime: 60_000,
  });
  const projects = list.data ?? NONE;
  return { projects, standard: projects.find((project) => project.is_default)?.id ?? null };
}

export function useProjectOf(id: string | undefined, conversation: Conversation | undefined) {
  const client = useQueryClient();
  const [asked] = useSearchParams();
  const [chosen, choose] = useState<string | null>(null);
  const { projects, standard } = useProjects();
  // An address may name the project of a new chat; one that is not theirs is passed over.
  const named = projects.find((project) => project.id === asked.get("project"))?.id;
  const project = id ? (conversation?.project_id ?? standard) : (chosen ?? named ?? standard);

  const changeProject = (next: string) => {
    if (!id) return choose(next);
    void changeShown(client, id, { project_id: next }, (row) => ({
      ...row,
      project_id: next,
    })).then((takeBack) =>
      patchConversation(id, { project_id: next }).catch((error) => {
        takeBack();
        toast(errorMessage(error));
      }),
    );
  };
  return { projects, project, changeProject };
}
