/**
 * What the page says of errors that people often meet, by the API's code. Of all others it shows
 * the server's own words, which are English and written for programs.
 */
import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { ErrorBody } from "./errors";

const TEXTS = new Map<string, MessageDescriptor>(
  Object.entries({
    // Signing in.
    not_signed_in: msg`You are not signed in.`,
    wrong_credentials: msg`The email address, password or passkey is wrong.`,
    wrong_code: msg`The code is wrong, or was used already.`,
    password_first: msg`Sign in with your password first.`,
    password_required: msg`You signed up in another browser: enter the password that you chose there.`,
    address_password_required: msg`This was asked for in another browser: enter the password of the account.`,
    reauthentication_required: msg`Show again that it is you before you change this.`,
    codes_locked: msg`Too many wrong codes were given: choose another password to try again.`,
    second_factor_required: msg`This organization demands a second factor: add one to your account.`,
    sso_required: msg`This organization signs in through its identity provider.`,
    sso_session: msg`You signed in through your organization: sign in with your password, or a passkey, for this.`,
    too_many_attempts: msg`Too many attempts. Try again later.`,
    csrf_failed: msg`Reload the page and try again.`,
    email_taken: msg`An account with this e-mail address exists already; sign in instead.`,
    link_invalid: msg`This link has expired or was used already.`,
    signup_closed: msg`This installation takes no sign-ups; ask its administrator for an account.`,
    signup_by_invitation: msg`This installation is open by invitation only; ask somebody there to invite you.`,
    other_address: msg`This invitation is for another e-mail address. Sign in with the account that has it.`,
    no_mail_server: msg`This installation has no mail server; ask its administrator.`,
    // Chatting.
    rate_limit_exceeded: msg`The rate limit is reached. Try again in a moment.`,
    insufficient_quota: msg`The budget or the credit has no room left for this request.`,
    model_not_found: msg`This model does not exist, or your organization has no access to it.`,
    model_not_allowed: msg`The project does not allow this model: choose another one.`,
    project_unavailable: msg`The project of this chat is archived, or you are no longer in it: choose another one.`,
    context_length_exceeded: msg`This is longer than the model can read. Shorten it, or begin a new chat.`,
    content_policy_violation: msg`This was refused by the usage policy.`,
    self_harm_support: msg`It sounds like you may be going through a very hard time. You don't have to face it alone: findahelpline.com lists free, confidential help in your country.`,
    generation_in_progress: msg`This answer is still being generated; wait for it or stop it first.`,
    overloaded: msg`There is too much to do at the moment, or the server restarts. Try again soon.`,
    upstream_failed: msg`The model could not answer. Try again.`,
    buffer_lost: msg`The answer broke off on the server and ends here.`,
    timeout: msg`The time for this answer is over. What there is of it is kept.`,
    internal_error: msg`Something went wrong on our side. Please try again.`,
    // Tools.
    tool_failed: msg`The server did not answer as expected.`,
    tool_timeout: msg`The server did not answer in time.`,
    tool_sign_in_needed: msg`Sign in at this tool server first.`,
    tool_sign_in_failed: msg`The tool server's sign-in did not work.`,
    tool_sign_in_refused: msg`The tool server's sign-in was refused.`,
    tool_client_needed: msg`The server's sign-in registers no clients by itself: make one there, and give its id and secret here.`,
    tool_issuer_changed: msg`The server signs people in elsewhere now: give its client's id and secret anew.`,
    tool_changed: msg`This tool has changed. Look at it again.`,
    // Files and what is kept.
    legal_hold: msg`A legal hold keeps this data: it can't be erased before the hold ends.`,
    payload_too_large: msg`This is too large. Send less.`,
    unsupported_file: msg`The file is no image (PNG, JPEG, WebP, GIF), no document (PDF, DOCX, XLSX, PPTX) and no UTF-8 text.`,
    file_storage_exceeded: msg`Your organization stores as many files as its plan allows. Delete some.`,
    attachment_storage_exceeded: msg`Your attachments take all the room that your plan gives them. Delete chats with files that you no longer need.`,
    too_many_conversations: msg`You have as many chats as your plan allows. Delete some; they count until they are erased.`,
    too_many_keys: msg`Your organization has as many API keys as its plan allows. Revoke some.`,
    nothing_to_summarise: msg`There is nothing to summarise in this chat.`,
    memory_full: msg`There is no room for more memories; forget some first.`,
    sharing_forbidden: msg`Your organization does not allow sharing conversations; ask an owner or admin.`,
    no_seats: msg`All seats of the plan are taken.`,
  }),
);

/** What the page says of this error; nothing where the server's words are shown. */
export function errorText({ code, setting }: ErrorBody): string | undefined {
  if (code === "address_not_public") {
    const allow = `${String(setting)}=1`;
    return t`Only https addresses on the internet are allowed. To allow addresses in your own network too, start Parley with ${allow}.`;
  }
  const text = TEXTS.get(code ?? "");
  return text && t(text);
}
