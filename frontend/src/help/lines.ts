import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Topic } from "./topics";

export interface Line {
  topic: Topic;
  /** As it stands over the error, where one is shown. */
  title: MessageDescriptor;
  means: MessageDescriptor;
  helps: MessageDescriptor;
}

/** What the page says when something fails, in the order of how often people meet it. */
export const LINES: Line[] = [
  {
    topic: "busy",
    title: msg`Parley is busy`,
    means: msg`The models are asked for more than they can answer at this moment, or the server restarts.`,
    helps: msg`Try again in a moment, or choose another model. Nothing of the chat is lost.`,
  },
  {
    topic: "failed",
    title: msg`The answer could not be generated`,
    means: msg`The model failed, or the server lost it on the way. What had been written is kept.`,
    helps: msg`Choose “Try again”, or another model. If it fails once more, give the request's id, from this page, to whoever runs Parley.`,
  },
  {
    topic: "offline",
    title: msg`Not sent`,
    means: msg`Parley could not be reached: this device has no connection, or the server does not answer.`,
    helps: msg`A message that waits is sent when the connection is back; for any other there is “Try again”. If only Parley does not open, tell whoever runs it.`,
  },
  {
    topic: "model",
    title: msg`A model can't answer at the moment`,
    means: msg`Nothing that runs this model is ready. One that loads when asked needs some seconds for that.`,
    helps: msg`Choose another model above the chat, or wait: the state of each is at the top of this page.`,
  },
  {
    topic: "limit",
    title: msg`Too many messages`,
    means: msg`More was sent within a short time than the plan, the project or the key allows.`,
    helps: msg`Wait until “Try again” has counted down. Owners and admins see the limits on the pages of projects and API keys.`,
  },
  {
    topic: "budget",
    title: msg`The budget is used up`,
    means: msg`The budget or the credit of the organization, the project or the key has no room left.`,
    helps: msg`Ask an owner, or whoever looks after the money: budgets are under “Usage”, credit is under “Billing”.`,
  },
  {
    topic: "refused",
    title: msg`This request can't be answered`,
    means: msg`The safety check took the message, or a text that belongs to it, for something that the usage policy forbids. It can be wrong.`,
    helps: msg`Say it in other words, leave out the file or the page, or choose “Ask for a review”: a person will look at it.`,
  },
  {
    topic: "cut",
    title: msg`The answer ends too early`,
    means: msg`It reached its maximum length, was stopped, or the chat is longer than the model can read.`,
    helps: msg`Choose “Continue” under the answer. In a long chat the circle beside the message shows how full it is; a new chat, or a model that reads more, makes room.`,
  },
  {
    topic: "tool",
    title: msg`A tool failed`,
    means: msg`Its server did not answer in time, refused, or asks you to sign in again.`,
    helps: msg`Open the call above the answer: its result says why. Sign in again under “Tools” in the settings, or ask the model to go on without it.`,
  },
  {
    topic: "file",
    title: msg`A file is not taken`,
    means: msg`It is too large, broken, locked by a password, or of a kind that is not read.`,
    helps: msg`Save it without a password, in parts, or as PDF, Word, Excel, PowerPoint, CSV or plain text, and attach it again.`,
  },
  {
    topic: "page",
    title: msg`This page could not be shown`,
    means: msg`A part of the page failed, mostly because Parley was updated while it was open.`,
    helps: msg`Reload the page. What you have written is kept in this browser.`,
  },
];
