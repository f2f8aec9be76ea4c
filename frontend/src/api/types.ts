/** The product API's shapes, by the names that the page uses (docs/contracts.md). */

export type Role = "owner" | "admin" | "member" | "finance";

export interface Organization {
  id: string;
  name: string;
  plan: string;
}

export interface Me {
  user: { id: string; email: string; name: string };
  organization: Organization;
  role: Role;
  organizations: Organization[];
}

export interface Model {
  id: string;
  name: string;
  context_window: number;
  max_output_tokens: number;
  capabilities: string[];
  prices: { input: string; cached_input: string; output: string } | null;
  status: string;
}

export interface ConversationSummary {
  id: string;
  title: string;
  model: string;
  pinned: boolean;
  archived: boolean;
  created_at: string;
  updated_at: string;
  generating: boolean;
}

export interface ConversationList {
  data: ConversationSummary[];
  next_cursor: string | null;
}

export type Part =
  | { type: "text"; text: string }
  | { type: "image"; attachment_id: string; filename?: string }
  | { type: "file"; attachment_id: string; filename?: string };

export type MessageStatus = "pending" | "completed" | "cancelled" | "blocked" | "failed";

export interface Feedback {
  rating: 1 | -1;
  comment: string;
}

export interface Message {
  id: string;
  parent_id: string | null;
  role: "user" | "assistant" | "system";
  content: string;
  parts: Part[];
  status: MessageStatus;
  model: string | null;
  finish_reason: string | null;
  created_at: string;
  /** Ids of this message and of those with the same parent, oldest first. */
  siblings: string[];
  feedback: Feedback | null;
  generation_id: string | null;
}

export interface Conversation {
  id: string;
  title: string;
  model: string;
  pinned: boolean;
  archived: boolean;
  /** The newest messages of the active branch, oldest first. */
  messages: Message[];
  has_more: boolean;
  active_message_id: string | null;
  total_tokens: number;
  generation: { id: string; message_id: string } | null;
}

export interface Attachment {
  id: string;
  filename: string;
  content_type: string;
  size: number;
}

export interface Share {
  id: string;
  token: string;
  url: string;
  created_at: string;
}

export interface SharedConversation {
  title: string;
  model: string;
  created_at: string;
  messages: Pick<Message, "id" | "role" | "content" | "created_at">[];
}

export interface ApiKey {
  id: string;
  name: string;
  prefix: string;
  scopes: string[];
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
}

export interface NewApiKey extends ApiKey {
  secret: string;
}

export type UsageGroup = "day" | "model" | "key" | "user";

export interface UsageRow {
  key: string;
  label: string;
  input_tokens: number;
  output_tokens: number;
  cost_usd: string;
}

export interface UsageSummary {
  period: string;
  input_tokens: number;
  cached_input_tokens: number;
  output_tokens: number;
  cost_usd: string;
  data: UsageRow[];
}
