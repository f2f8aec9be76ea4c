/**
 * The product API's shapes by the names that the page uses: generated from the API's own
 * description (`npm run schema`), made narrower where that says only "string".
 */
import type { components } from "./schema.gen";

type Schemas = components["schemas"];
type Narrow<T, Known> = Omit<T, keyof Known> & Known;

export type Role = "owner" | "admin" | "member" | "finance" | "viewer";

export type Me = Narrow<Schemas["Me"], { role: Role }>;
export type SignedOut = Schemas["SignedOut"];
export type Announcement = Narrow<Schemas["AnnouncementOut"], { tone: "info" | "warning" }>;
export type DataPolicy = Schemas["DataPolicyOut"];
/** `state` is `queued`, `running`, `done` or `failed`; `scope` is `me` or `organization`. */
export type DataExport = Schemas["ExportOut"];
export type DataExportList = Schemas["ExportListOut"];
export type MailSent = Schemas["SentOut"];
export type SecondFactorNeeded = Schemas["SecondFactorNeeded"];
export type Security = Schemas["SecurityOut"];
export type Passkey = Schemas["PasskeyOut"];
export type TotpEnrolment = Schemas["TotpOut"];
export type Session = Schemas["SessionOut"];
export type Model = Schemas["ModelOut"];
/** A model that is fetched or loaded; of one that is `declined`, `detail` says why. */
export type PendingModel = Schemas["PendingModelOut"];
export type ModelList = Schemas["ModelListOut"];
/** Of an answer that waits for its place; null where it does not. */
export type QueuePlace = Schemas["QueuePlaceOut"];
export type ConversationSummary = Schemas["SummaryOut"];
export type TagCount = Schemas["TagOut"];
export type FoundConversation = Schemas["FoundOut"];
export type ConversationList = Schemas["ConversationListOut"];
export type TrashErased = Schemas["TrashErasedOut"];

export type Part =
  | { type: "text"; text: string }
  /** `seconds` is null while the model still thinks, which it does `since`, in ms since the epoch. */
  | { type: "reasoning"; text: string; seconds: number | null; since?: number }
  | { type: "call"; call_id: string; name: string; arguments: string }
  | { type: "call_output"; call_id: string; output: string }
  | { type: "image"; attachment_id: string; filename?: string }
  | { type: "file"; attachment_id: string; filename?: string };

export type MessageStatus = "pending" | "completed" | "cancelled" | "blocked" | "failed";

export type Feedback = Narrow<Schemas["FeedbackOut"], { rating: 1 | -1 }>;

/** `siblings` are the ids of this message and of those with the same parent, oldest first. */
export type Message = Narrow<
  Schemas["MessageOut"],
  {
    role: "user" | "assistant" | "system";
    parts: Part[];
    status: MessageStatus;
    feedback: Feedback | null;
  }
>;

/** `messages` are the newest of the active branch, oldest first. */
export type Conversation = Narrow<Schemas["ConversationOut"], { messages: Message[] }>;

/** What somebody has set up once for many chats. */
export type Assistant = Narrow<Schemas["AssistantOut"], { seen_by: Role[]; edited_by: Role[] }>;

export type ChatParameters = Schemas["ChatParameters"];
/** How full a chat is for its model. */
export type ContextUse = Schemas["ContextOut"];
/** What became of one part of an import. */
export type ImportPart = Schemas["ImportOut"];
/** What a person wants of every chat. */
export type ChatDefaults = Schemas["ChatDefaultsOut"];
/** What a model read before it wrote an answer. */
export type Sources = Schemas["SourcesOut"];
export type Withheld = Schemas["WithheldOut"];
export type Source = Schemas["SourceOut"];
export type SentPrompt = Schemas["SentPromptOut"];

/** One thing that is remembered of the reader. */
export type Memory = Schemas["MemoryOut"];
export type MemoryList = Schemas["MemoryListOut"];

export type Appeal = Schemas["AppealOut"];

export type ToolCall = Schemas["ToolCallOut"];
export type ProgramRun = Schemas["ProgramRunOut"];
export type ProgramResult = Schemas["ProgramResult"];
export type ToolServer = Schemas["ToolServerOut"];
export type ToolConnection = Schemas["ToolConnectionOut"];
export type AssistantTool = Schemas["AssistantToolOut"];
export type MyTools = Schemas["MyToolsOut"];

export type Attachment = Schemas["AttachmentOut"];
export type Share = Schemas["NewShareOut"];
export type ListedShare = Schemas["ListedShareOut"];
export type SharePage = Schemas["SharePageOut"];
export type Sharing = Schemas["SharingOut"];
export type SharedConversation = Schemas["SharedOut"];

export type OrganizationDetail = Schemas["OrganizationDetailOut"];
export type Member = Narrow<Schemas["MemberOut"], { role: Role }>;
export type Invitation = Narrow<Schemas["InvitationOut"], { role: Role }>;
export type NewInvitation = Schemas["NewInvitationOut"];
export type InvitationOffer = Schemas["OfferOut"];
export type OrganizationDomain = Schemas["DomainOut"];
export type JoinOffer = Schemas["JoinOfferOut"];
export type JoinRequest = Schemas["JoinRequestOut"];
export type Project = Schemas["ProjectOut"];
export type ProjectView = Schemas["ProjectViewOut"];
export type ProjectMember = Narrow<Schemas["ProjectMemberOut"], { role: "owner" | "member" }>;
/** `id` is the one of its content under `/api/attachments`. */
export type SharedFile = Schemas["SharedFileOut"];
export type ProjectLimit = Schemas["ProjectLimitOut"];
export type ServiceAccount = Schemas["ServiceAccountOut"];
export type NewServiceAccount = Schemas["NewServiceAccountOut"];

export type Scope = Schemas["Scope"];
export type ApiKey = Schemas["KeyOut"];
export type NewApiKey = Schemas["NewKeyOut"];

export type UsageGroup = "day" | "model" | "key" | "user" | "project";
export type UsageRow = Schemas["UsageRowOut"];
export type UsageSummary = Schemas["UsageOut"];

/** `amount` and `spent` are decimal texts in `currency`; a hard budget refuses what exceeds it. */
export type Budget = Schemas["BudgetOut"];
export type Invoice = Schemas["InvoiceOut"];

export type SignInProvider = Narrow<Schemas["SSOPageOut"], { connection: SignInConnection | null }>;
export type SignInConnection = Schemas["SSOOut"];
export type ProviderMetadata = Schemas["MetadataOut"];

export type SignInUpdate = Schemas["SSOUpdate"];
export type Directory = Schemas["DirectoryOut"];
export type GroupRules = Schemas["GroupRulesOut"];
export type GroupRule = Schemas["GroupRuleBody"];
export type SignInPolicy = Schemas["SignInPolicyOut"];
export type AllowedNetworks = Schemas["NetworksOut"];
export type AuditEvent = Schemas["AuditEventOut"];
export type AuditPage = Schemas["AuditPageOut"];

/** How the organization pays; amounts are decimal texts. */
export type Billing = Schemas["BillingOut"];
export type BillingDetails = Schemas["DetailsOut"];
export type TopUp = Schemas["TopUpOut"];

export type KeyLimit = Schemas["LimitOut"];
export type KeyOutcomes = Schemas["KeyOutcomesOut"];
/** A request of an API key, without and with its content. */
export type RequestLog = Schemas["RequestLogOut"];
export type RequestLogView = Narrow<
  Schemas["RequestLogViewOut"],
  {
    request: Record<string, unknown> | null;
    answer: Record<string, unknown> | null;
    chat: Record<string, unknown> | null;
  }
>;
