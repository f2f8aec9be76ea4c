// Generated from /openapi.json by `npm run schema`; not edited by hand.

export interface paths {
    "/api/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Chat Completion
         * @description OpenAI's chat completion. With `stream` true: server-sent events, `[DONE]` last.
         */
        post: operations["create_product_chat_completion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audio/transcriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Transcription
         * @description What is said in a recording. It is billed by the begun second, and not stored.
         */
        post: operations["transcribe"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audio/speech": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Speech
         * @description A text spoken, sentence by sentence while it is made. It is billed by the character.
         */
        post: operations["speak"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Product Models
         * @description What each model can do and costs, and whether it can answer now; and what is on its way.
         */
        get: operations["list_product_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/generations/{generation_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow Generation
         * @description The events after `Last-Event-ID` (or `after`), then live ones, from any web process.
         */
        get: operations["follow_generation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/generations/{generation_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Generation
         * @description Stop it, and the tools that it has called. What was delivered stays, and is billed. Stopping
         *     twice is fine.
         */
        post: operations["cancel_generation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/generations/{generation_id}/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Queue Place Of Generation
         * @description Where an answer that has not begun waits, and for about how long.
         */
        get: operations["queue_place_of_generation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Conversations
         * @description Pinned ones first, then by the last turn. `search` looks into titles and
         *     messages; `project_id` lists those that are in it, `deleted` those that can be restored.
         */
        get: operations["list_conversations"];
        put?: never;
        /**
         * Create Conversation
         * @description An empty conversation.
         */
        post: operations["create_conversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search Conversations
         * @description Your conversations that have every word in their title or in one message, the best first,
         *     each with the place that was found.
         */
        get: operations["search_conversations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Tags
         * @description Your tags, the most used first.
         */
        get: operations["list_tags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change Conversations
         * @description Archive, unarchive, delete or restore several.
         */
        post: operations["change_conversations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/trash/erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase Trash
         * @description Erase conversations of your trash for good, before their 30 days are over. A few seconds'
         *     worth in each request. A legal hold refuses it (409 `legal_hold`).
         */
        post: operations["erase_trash"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{conversation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Conversation
         * @description The newest messages of the active branch, oldest first; `before` pages upwards.
         */
        get: operations["get_conversation"];
        put?: never;
        post?: never;
        /**
         * Delete Conversation
         * @description Deleted for the user at once, and for good after 30 days; a temporary one at once.
         */
        delete: operations["delete_conversation"];
        options?: never;
        head?: never;
        /**
         * Update Conversation
         * @description Rename, pin, archive, tag, choose the model or the project, or switch to another branch.
         */
        patch: operations["update_conversation"];
        trace?: never;
    };
    "/api/conversations/{conversation_id}/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Context
         * @description How full the active branch is for its model, and where what is read of it begins.
         */
        get: operations["get_context"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{conversation_id}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Summarise Conversation
         * @description Summarise the beginning of the active branch now, and by itself from then on. It is made
         *     after this answer, and is in the context when it is there.
         */
        post: operations["summarise_conversation"];
        /**
         * Undo Summary
         * @description Delete the chat's summaries: its oldest messages are left out again when it is full. No
         *     further one is made by itself.
         */
        delete: operations["undo_summary"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{conversation_id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore Conversation
         * @description Undo a deletion.
         */
        post: operations["restore_conversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export All
         * @description All your conversations as one JSON file.
         */
        get: operations["export_all"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{conversation_id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export One
         * @description One conversation: the shown branch as Markdown, or all branches as JSON.
         */
        get: operations["export_one"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import Some
         * @description Take over conversations of an export, once each. Larger files in several requests.
         */
        post: operations["import_some"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{conversation_id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask
         * @description Ask, and stream the answer. An edit is a prompt with the edited one's `parent_id`.
         *
         *     The first event has `parley`: the ids of the conversation, of both messages and of the
         *     generation.
         */
        post: operations["ask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/messages/{message_id}/regenerate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Regenerate
         * @description Another answer to the same prompt, as a sibling of this one. `message_id` may name the
         *     prompt, also while other answers to it are generated.
         */
        post: operations["regenerate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/messages/{message_id}/continue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Continue Answer
         * @description Go on with an answer that was cut short. The stream has what is new; the stored answer,
         *     a sibling of the old one, has all of it.
         */
        post: operations["continue_answer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/messages/{message_id}/sent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Sent Prompt
         * @description What the model was sent for an answer: instructions, parameters, messages.
         */
        get: operations["get_sent_prompt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/messages/{message_id}/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Sources
         * @description The places in attached files that an answer was written from: those that it cites, in the
         *     order in which it does, then the others, the best first.
         */
        get: operations["get_sources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/messages/{message_id}/withheld": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Withheld
         * @description The text that was kept from the model of an answer, because it reads like orders: in the
         *     files that are still there.
         */
        get: operations["get_withheld"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/chat-defaults": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Chat Defaults
         * @description Your instructions for every chat, and what a new one begins with.
         */
        get: operations["get_chat_defaults"];
        /**
         * Set Chat Defaults
         * @description Set all of them; they hold from the next answer on.
         */
        put: operations["set_chat_defaults"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/messages/{message_id}/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Give Feedback
         * @description A thumb up or down, with a comment; null takes it back.
         */
        put: operations["give_feedback"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Memories
         * @description All of yours, the newest first, also while memory is off.
         */
        get: operations["list_memories"];
        put?: never;
        /**
         * Create Memory
         * @description A new one; one that says the same already is returned as it is.
         */
        post: operations["create_memory"];
        /**
         * Forget Memories
         * @description Forget all of yours in this organization.
         */
        delete: operations["forget_memories"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set Memory
         * @description Off: nothing is used, proposed or added; what is there stays until you forget it.
         */
        put: operations["set_memory"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set Memory Policy
         * @description The switch for all members of the organization, as owner or admin.
         */
        put: operations["set_memory_policy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/{memory_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Forget Memory
         * @description Forget it: no prompt holds it from now on.
         */
        delete: operations["forget_memory"];
        options?: never;
        head?: never;
        /**
         * Update Memory
         * @description Say it otherwise.
         */
        patch: operations["update_memory"];
        trace?: never;
    };
    "/api/messages/{message_id}/memory": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Save Proposal
         * @description Keep what is proposed under a message of yours, as you would have it.
         */
        post: operations["save_proposal"];
        /**
         * Dismiss Proposal
         * @description Do not keep what is proposed under a message; forget it again where it was kept.
         */
        delete: operations["dismiss_proposal"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{conversation_id}/shares": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Shares
         * @description The links that work, newest first; without their tokens, which nothing keeps.
         */
        get: operations["list_shares"];
        put?: never;
        /**
         * Create Share
         * @description A link that shows what the active branch is now, until it expires; later turns stay
         *     private.
         */
        post: operations["create_share"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/shares": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List All Shares
         * @description The caller's links that work, or for owners and admins all of the organization's, newest
         *     first.
         */
        get: operations["list_all_shares"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sharing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Sharing
         * @description Whether the organization allows links, and how long they may work.
         */
        get: operations["get_sharing"];
        /**
         * Set Sharing
         * @description Allow or forbid links, as owner or admin. Forbidden, all of them stop at once.
         */
        put: operations["set_sharing"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/shares/{share_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke Share
         * @description The link stops working: one's own, or for owners and admins any of the organization.
         */
        delete: operations["revoke_share"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/shared/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Shared
         * @description What a link shows, to anyone who has it.
         */
        get: operations["read_shared"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/shared/{token}/copy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Copy Shared
         * @description What a link shows as a conversation of your own, to go on with.
         */
        post: operations["copy_shared"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/attachments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload
         * @description An image (re-encoded, so that no metadata survives), a document (PDF, DOCX, XLSX, PPTX; read
         *     in a process of its own) or UTF-8 text.
         */
        post: operations["upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/attachments/{attachment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download
         * @description The caller's own file. All but images is offered for saving: a browser must not render it.
         */
        get: operations["download"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/assistants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Assistants
         * @description Your own, and those that are shared with your role, the newest first.
         */
        get: operations["list_assistants"];
        put?: never;
        /**
         * Create Assistant
         * @description One of your own; shared with nobody unless you say so.
         */
        post: operations["create_assistant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/assistants/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Assistant Tools
         * @description What an assistant of this organization can name.
         */
        get: operations["list_assistant_tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/assistants/{assistant_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Assistant
         * @description One that you see.
         */
        get: operations["get_assistant"];
        put?: never;
        post?: never;
        /**
         * Delete Assistant
         * @description For good; chats with it go on without it.
         */
        delete: operations["delete_assistant"];
        options?: never;
        head?: never;
        /**
         * Update Assistant
         * @description Change it. Its chats read new instructions from their next answer on.
         */
        patch: operations["update_assistant"];
        trace?: never;
    };
    "/api/assistants/{assistant_id}/duplicate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Duplicate Assistant
         * @description A copy of your own, shared with nobody.
         */
        post: operations["duplicate_assistant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/assistants/{assistant_id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Assistant Files
         * @description In the order in which they were uploaded; `/api/attachments/{id}` has the content of each.
         */
        get: operations["list_assistant_files"];
        put?: never;
        /**
         * Add Assistant File
         * @description Make an upload (`POST /api/attachments`; a document or text) a file of the assistant: whoever
         *     may use the assistant may read it, and the model reads it in every chat with it.
         */
        post: operations["add_assistant_file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/assistants/{assistant_id}/files/{attachment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove Assistant File
         * @description No answer reads it from now on, and within a day it is erased.
         */
        delete: operations["remove_assistant_file"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/appeals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What became of the caller's appeals
         * @description Newest first, or the one about a generation; empty where there is none.
         */
        get: operations["list_appeals"];
        put?: never;
        /**
         * Ask a person to look at a stopped answer
         * @description 404 where nothing of the caller's was stopped, 409 where it is under review already.
         */
        post: operations["create_appeal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Keys
         * @description Owners and admins see all of the organization's keys, others their own; newest first.
         */
        get: operations["list_keys"];
        put?: never;
        /**
         * Create Key
         * @description A new key. Its secret is in this answer and nowhere else.
         */
        post: operations["create_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Key
         * @description One key that works.
         */
        get: operations["get_key"];
        put?: never;
        post?: never;
        /**
         * Revoke Key
         * @description Ends a key at once, for good.
         */
        delete: operations["revoke_key"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{key_id}/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Key Limits
         * @description What binds the key's requests, and what is left of it at this moment.
         */
        get: operations["get_key_limits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{key_id}/outcomes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Key Outcomes
         * @description How many requests of the key succeeded and failed, and how.
         */
        get: operations["get_key_outcomes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{key_id}/request-logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete Key Request Logs
         * @description Delete all that is logged of the key's requests.
         */
        delete: operations["delete_key_request_logs"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/request-logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Request Logs
         * @description The newest first; owners and admins see those of all keys. A search for `text` reads a
         *     bounded number of contents: `next_cursor` goes on.
         */
        get: operations["list_request_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/request-logs/{log_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Request Log
         * @description One, with what was asked and answered; the audit log says that it was read.
         */
        get: operations["get_request_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Organization
         * @description Name, plan and seats.
         */
        get: operations["get_organization"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update Organization
         * @description Rename it, as owner or admin.
         */
        patch: operations["update_organization"];
        trace?: never;
    };
    "/api/organization/owner": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Transfer Ownership
         * @description Make another member an owner, and oneself an admin.
         */
        post: operations["transfer_ownership"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Members
         * @description The people of the organization; each member sees them.
         */
        get: operations["list_members"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/members/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update Member
         * @description Give a member another role. Only owners make owners, and there is always one.
         */
        patch: operations["update_member"];
        trace?: never;
    };
    "/api/organization/members/{user_id}/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove Member
         * @description Remove a member, or leave; what becomes of their chats and keys has to be said.
         */
        post: operations["remove_member"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Invitations
         * @description All invitations, newest first, without their links, which nothing keeps.
         */
        get: operations["list_invitations"];
        put?: never;
        /**
         * Create Invitation
         * @description Mail an invitation, or make a link to be handed on. The answer to an address is the same
         *     whether or not it has an account.
         */
        post: operations["create_invitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/invitations/{invitation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke Invitation
         * @description The link stops working.
         */
        delete: operations["revoke_invitation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Domains
         * @description The domains of the organization, with the TXT record that verifies each.
         */
        get: operations["list_domains"];
        put?: never;
        /**
         * Add Domain
         * @description Claim a domain. It counts once its TXT record is found.
         */
        post: operations["add_domain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/domains/{domain_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete Domain
         * @description No one joins by it any more; members stay.
         */
        delete: operations["delete_domain"];
        options?: never;
        head?: never;
        /**
         * Update Domain
         * @description How people join by it.
         */
        patch: operations["update_domain"];
        trace?: never;
    };
    "/api/organization/domains/{domain_id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify Domain
         * @description Look for its TXT record now.
         */
        post: operations["verify_domain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/join-requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Join Requests
         * @description Who asks to join, the first first.
         */
        get: operations["list_join_requests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/join-requests/{join_request_id}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept Join Request
         * @description They are a member now.
         */
        post: operations["accept_join_request"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/join-requests/{join_request_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Decline Join Request
         * @description Forget the request; they are told nothing.
         */
        delete: operations["decline_join_request"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Projects
         * @description Those that the caller sees, the oldest first. `archived`: the archived ones too.
         */
        get: operations["list_projects"];
        put?: never;
        /**
         * Create Project
         * @description A new project, as owner or admin.
         */
        post: operations["create_project"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{project_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Project
         * @description One project.
         */
        get: operations["get_project"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update Project
         * @description Its name, its instructions, the models that its keys may use, how long its chats stay. Keys
         *     follow within ten seconds.
         */
        patch: operations["update_project"];
        trace?: never;
    };
    "/api/projects/{project_id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive Project
         * @description Close it for good: its keys stop at once, its usage stays.
         */
        post: operations["archive_project"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{project_id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Project Members
         * @description Its members; owners and admins of the organization manage it without being one.
         */
        get: operations["list_project_members"];
        put?: never;
        /**
         * Add Project Member
         * @description Add a member of the organization.
         */
        post: operations["add_project_member"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{project_id}/members/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove Project Member
         * @description Their keys in the project stop with it.
         */
        delete: operations["remove_project_member"];
        options?: never;
        head?: never;
        /**
         * Update Project Member
         * @description Owners manage the project, members use it.
         */
        patch: operations["update_project_member"];
        trace?: never;
    };
    "/api/projects/{project_id}/service-accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Service Accounts
         * @description Programs' accounts, whose keys outlive who made them.
         */
        get: operations["list_service_accounts"];
        put?: never;
        /**
         * Create Service Account
         * @description A service account with its first key, whose secret is in this answer and nowhere else.
         */
        post: operations["create_service_account"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{project_id}/service-accounts/{service_account_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete Service Account
         * @description It and its keys end.
         */
        delete: operations["delete_service_account"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{project_id}/rate-limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Project Limits
         * @description The project's own limits, by model; the plan's bind it as well.
         */
        get: operations["list_project_limits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{project_id}/rate-limits/{model_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set Project Limit
         * @description What the project may ask of a model a minute.
         */
        put: operations["set_project_limit"];
        post?: never;
        /**
         * Delete Project Limit
         * @description The plan's limits alone bind it again.
         */
        delete: operations["delete_project_limit"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{project_id}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Project Keys
         * @description Its keys: all for who manages the project, their own for others.
         */
        get: operations["list_project_keys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{project_id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Project Files
         * @description In the order in which they were uploaded; `/api/attachments/{id}` has the content of each.
         */
        get: operations["list_project_files"];
        put?: never;
        /**
         * Add Project File
         * @description Make an upload (`POST /api/attachments`; a document or text) a file of the project: whoever
         *     may use the project may read it, and the model reads it in every chat there.
         */
        post: operations["add_project_file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{project_id}/files/{attachment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove Project File
         * @description No answer reads it from now on, and within a day it is erased.
         */
        delete: operations["remove_project_file"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Usage
         * @description `period`: a month (`2026-11`), a day (`2026-11-21`) or `last_30_days`, in UTC.
         *
         *     `project_id`: only what was used in this project. Owners, admins, finance members and viewers
         *     see all members' usage, a plain member only their own.
         */
        get: operations["usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/invoices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Invoices
         * @description Issued invoices and credit notes, newest first.
         */
        get: operations["list_invoices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/invoices/{invoice_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Invoice
         * @description One invoice with its lines.
         */
        get: operations["get_invoice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/invoices/{invoice_id}/document.{kind}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download Invoice
         * @description The document as PDF, or its lines as CSV.
         */
        get: operations["download_invoice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/billing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Billing
         * @description How the organization pays, and what it owes.
         */
        get: operations["get_billing"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/billing/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Choose Plan
         * @description Change the plan from now on; the month's invoice charges it for the time that it is had.
         */
        put: operations["choose_plan"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/billing/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set Billing Details
         * @description Who is invoiced, from the next invoice on.
         */
        patch: operations["set_billing_details"];
        trace?: never;
    };
    "/api/billing/payment-method": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add Payment Method
         * @description Where a payment method is given: at the provider.
         */
        post: operations["add_payment_method"];
        /**
         * Remove Payment Method
         * @description Forget the payment method, here and at the provider.
         */
        delete: operations["remove_payment_method"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/billing/top-ups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Top Ups
         * @description Credit that was bought, newest first.
         */
        get: operations["list_top_ups"];
        put?: never;
        /**
         * Top Up
         * @description Buy prepaid credit: it is there once the provider says that it was paid.
         */
        post: operations["top_up"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/payments/stripe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take Stripe Event
         * @description Events of Stripe, by their signature. Again, or in another order: no other effect.
         */
        post: operations["take_stripe_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Budgets
         * @description Monthly budgets and what is spent of them.
         */
        get: operations["list_budgets"];
        put?: never;
        /**
         * Set Budget
         * @description Set the soft or the hard budget of the organization, a project or a key.
         *
         *     Setting it again changes its amount: there is one soft and one hard budget for each.
         */
        post: operations["set_budget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/budgets/{budget_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete Budget
         * @description Remove a budget.
         */
        delete: operations["delete_budget"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/credit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Credit
         * @description What is left of prepaid credit, after all usage so far.
         */
        get: operations["get_credit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Webhooks
         * @description Where this organization is notified.
         */
        get: operations["list_webhooks"];
        put?: never;
        /**
         * Create Webhook
         * @description Be notified at a URL. `types`: `budget.threshold_reached`, `invoice.issued`, …
         */
        post: operations["create_webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{endpoint_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete Webhook
         * @description Stop being notified there.
         */
        delete: operations["delete_webhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{endpoint_id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable Webhook
         * @description Be notified there again, after repeated failure had disabled it; what waited is sent.
         */
        post: operations["enable_webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Deliveries
         * @description What was sent and what came of it, newest first.
         */
        get: operations["list_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/deliveries/{delivery_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay Delivery
         * @description Send a delivery again, with the same event id.
         */
        post: operations["replay_delivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/announcements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Announcements
         * @description Those in force that the caller has not closed, newest first; five at most.
         */
        get: operations["list_announcements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/announcements/{announcement_id}/dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Dismiss Announcement
         * @description Do not show it to the caller again. Twice is fine.
         */
        post: operations["dismiss_announcement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Events
         * @description Who did what in the organization, newest first.
         */
        get: operations["list_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit-log/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Actions
         * @description Everything that is recorded.
         */
        get: operations["list_actions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit-log/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Events
         * @description The same as JSON lines, all of it, newest first. That it was exported is recorded.
         */
        get: operations["export_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data-policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Data Policy
         * @description How long data is kept, and what it may be used for.
         */
        get: operations["get_data_policy"];
        /**
         * Put Data Policy
         * @description Change the organization's, as owner or admin. Older data follows with the next purge.
         */
        put: operations["put_data_policy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data-policy/reuse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Put Answer Reuse
         * @description Which answers of the organization are reused, as owner or admin. In force within seconds.
         */
        put: operations["put_answer_reuse"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/data-policy/training": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Put Training
         * @description Whether one's own texts may train, where the organization allows it.
         */
        put: operations["put_training"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/exports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Exports
         * @description One's own, and as owner the organization's; newest first. One's own hold all of one's
         *     organizations: a session of an identity provider does not see them.
         */
        get: operations["list_exports"];
        put?: never;
        /**
         * Create Export
         * @description Ask for a copy of all data; a mail tells when it is ready. At most one an hour.
         */
        post: operations["create_export"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/exports/{export_id}/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Export Link
         * @description A signed link that downloads it, once, for ten minutes and without a session. Needs a sign-in
         *     of the last ten minutes, and none by an identity provider.
         */
        post: operations["create_export_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/exports/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download Export
         * @description The zip behind a signed link.
         */
        get: operations["download_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/erasures/organization": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase Organization
         * @description End the organization for all of its members and erase what it owns, as its owner.
         */
        post: operations["erase_organization"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Me
         * @description 401 when signed out.
         */
        get: operations["me"];
        put?: never;
        post?: never;
        /**
         * Delete Account
         * @description Delete the account: locked out at once, everything that is theirs erased within minutes.
         */
        delete: operations["delete_account"];
        options?: never;
        head?: never;
        /**
         * Update Me
         * @description Change one's name or language, or the organization to work in.
         */
        patch: operations["update_me"];
        trace?: never;
    };
    "/api/me/terms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept Terms
         * @description Accept versions of the terms; recorded with time and address.
         */
        post: operations["accept_terms"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept Invitation
         * @description Join the organization of an invitation, and work in it from now on. Not in a session of an
         *     identity provider, which stays in its organization (`sso_session`).
         */
        post: operations["accept_invitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/join-offer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Join Offer
         * @description Which organization takes one by the domain of one's verified address.
         */
        get: operations["get_join_offer"];
        put?: never;
        /**
         * Take Join Offer
         * @description Join by one's address, or ask to. Not in a session of an identity provider.
         */
        post: operations["take_join_offer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/security": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Security
         * @description The second factors, without their secrets.
         */
        get: operations["security"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/reauthenticate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reauthenticate
         * @description The password again, and a code where the account has a second factor, before something of the
         *     account's security changes.
         */
        post: operations["reauthenticate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/reauthenticate/passkey/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin Passkey Proof
         * @description A challenge for one of the person's passkeys, which proves both factors.
         */
        post: operations["begin_passkey_proof"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/reauthenticate/passkey": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reauthenticate By Passkey
         * @description As `reauthenticate`, by a passkey alone.
         */
        post: operations["reauthenticate_by_passkey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change Password
         * @description Choose another password. Every other session ends.
         */
        post: operations["change_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change Email
         * @description Ask for another address: a link goes there, and one that stops it to the old address.
         */
        post: operations["change_email"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/totp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Activate Totp
         * @description The app's first code: from now on signing in asks for one.
         */
        put: operations["activate_totp"];
        /**
         * Begin Totp
         * @description A secret for an authenticator app; it counts from `PUT` with its first code on.
         */
        post: operations["begin_totp"];
        /**
         * Remove Totp
         * @description Remove the authenticator app.
         */
        delete: operations["remove_totp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/recovery-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew Recovery Codes
         * @description Ten other recovery codes; the earlier ones work no longer.
         */
        post: operations["renew_recovery_codes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/passkeys/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin Passkey
         * @description A challenge to make a passkey with.
         */
        post: operations["begin_passkey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add Passkey
         * @description Keep the passkey that was made.
         */
        post: operations["add_passkey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/passkeys/{passkey_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove Passkey
         * @description Remove a passkey; the device may keep its half, which opens nothing any more.
         */
        delete: operations["remove_passkey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Sessions
         * @description Where one is signed in, the last used first; the newest hundred. A session of an identity
         *     provider sees itself alone, where the account has other organizations.
         */
        get: operations["list_sessions"];
        put?: never;
        post?: never;
        /**
         * End Sessions
         * @description Sign out everywhere, here too. What is open elsewhere closes within seconds.
         */
        delete: operations["end_sessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End Session
         * @description Sign one device out.
         */
        delete: operations["end_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/signup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Signup
         * @description Ask for an account: a link goes to the address, which makes it and an organization.
         */
        post: operations["signup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/signup/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm Signup
         * @description Make the account of a sign-up's link, and sign in.
         */
        post: operations["confirm_signup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/invitation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read Invitation
         * @description What the link of an invitation offers, before anybody has signed in.
         */
        post: operations["read_invitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Login
         * @description Sign in. The session's key and the CSRF token are new afterwards. 202 where the account has
         *     a second factor: the session waits ten minutes for it.
         */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/second-factor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Second Factor
         * @description A code of the authenticator app or a recovery code, after the right password.
         */
        post: operations["second_factor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/passkey/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Passkey Options
         * @description A challenge: for the user whose password was right, or for any user with a passkey.
         */
        post: operations["passkey_options"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/passkey": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Passkey
         * @description Sign in with a passkey, which is both factors.
         */
        post: operations["passkey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Logout
         * @description Sign out here; other tabs of this session leave. 200 where the browser should go on to sign
         *     out at its identity provider too.
         */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Password Reset
         * @description Mail a link to choose another password; the answer is the same for every address.
         */
        post: operations["password_reset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/password-reset/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm Password Reset
         * @description Choose another password; all sessions end. Signing in still asks for a second factor.
         */
        post: operations["confirm_password_reset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/address/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm Address
         * @description Do what the link in a mail to a new or unverified address says. It signs no user in. 403,
         *     `address_password_required`, in another browser than the one that asked for it.
         */
        post: operations["confirm_address"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/address/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop Address Change
         * @description Stop the change of address that the link in a mail to the old address is about.
         */
        post: operations["stop_address_change"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sso": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start Sso
         * @description Where the browser goes. 404 where no organization has verified the address's domain.
         */
        post: operations["start_sso"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sso/oidc/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Oidc Callback
         * @description Where an OIDC provider sends the browser back to.
         */
        get: operations["oidc_callback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sso/saml/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Saml Finish
         * @description Where `acs` sends the browser on to.
         */
        get: operations["saml_finish"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sso/{connection_id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Start By Provider
         * @description Where a tile of the provider's portal leads, if the organization allows that.
         */
        get: operations["start_by_provider"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sso/saml/{connection_id}/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Saml Logout
         * @description Single logout, as the provider asks for it: a signed request by redirect.
         */
        get: operations["saml_logout"];
        put?: never;
        /**
         * Saml Logout Posted
         * @description The same by POST, with the signature in the message.
         */
        post: operations["saml_logout_posted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sso/saml/{connection_id}/acs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Saml Acs
         * @description Where a SAML provider's page posts its answer.
         */
        post: operations["saml_acs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sso/saml/{connection_id}/metadata": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Saml Metadata
         * @description This installation's SAML metadata, for the provider's administrator; the same before the
         *     connection is saved.
         */
        get: operations["saml_metadata"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sso/oidc/{connection_id}/backchannel-logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Oidc Backchannel Logout
         * @description An OIDC provider tells that a person has signed out there: their sessions end here.
         */
        post: operations["oidc_backchannel_logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/sso": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Sso
         * @description The identity provider, and what its administrator has to know of this installation.
         */
        get: operations["get_sso"];
        /**
         * Set Sso
         * @description Set the identity provider. Another issuer is another provider, with identities anew. An OIDC
         *     issuer that people are to sign in through has to answer now.
         */
        put: operations["set_sso"];
        post?: never;
        /**
         * Delete Sso
         * @description Remove it. Accounts stay; who has no password resets it by mail.
         */
        delete: operations["delete_sso"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/sso/metadata": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read Metadata
         * @description What a SAML provider's metadata says, for the form. Nothing is saved.
         */
        post: operations["read_metadata"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/sso/identities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Forget Identities
         * @description Forget the provider's subjects, of one member or of all: the next sign-in links them by
         *     address. For a provider that gives people other subjects (`sso_address_reused`).
         */
        delete: operations["forget_identities"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/sign-in-policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Sign In Policy
         * @description Whether members need a second factor, and how many have none.
         */
        get: operations["get_sign_in_policy"];
        /**
         * Set Sign In Policy
         * @description Demand a second factor, or not. 409 `second_factor_needed`: the caller has none.
         */
        put: operations["set_sign_in_policy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/scim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Directory
         * @description Whether a directory may call SCIM, and what it has sent.
         */
        get: operations["get_directory"];
        put?: never;
        /**
         * Create Directory Token
         * @description A token for the directory; an earlier one stops working.
         */
        post: operations["create_directory_token"];
        /**
         * Delete Directory Token
         * @description The directory gets no answer any more; its users stay as they are.
         */
        delete: operations["delete_directory_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/group-rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Group Rules
         * @description What groups of the identity provider or the directory give. For owners and admins.
         */
        get: operations["get_group_rules"];
        /**
         * Set Group Rules
         * @description Replace them; people have what they say within seconds. Only an owner maps to `owner`.
         */
        put: operations["set_group_rules"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/ip-allow-list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Networks
         * @description From where the organization may be used; an empty list means anywhere.
         */
        get: operations["get_networks"];
        /**
         * Set Networks
         * @description Replace the list. 409 `lockout` where it lacks the caller's own address.
         */
        put: operations["set_networks"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/tool-servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Tool Servers
         * @description With their tools, and what each may do.
         */
        get: operations["list_tool_servers"];
        put?: never;
        /**
         * Create Tool Server
         * @description An MCP server; `check` reads its tools, and switches it on.
         */
        post: operations["create_tool_server"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/web-search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Web Search
         * @description Let chats search the web. It is a tool server from then on; `check` tries a search, and
         *     switches it on.
         */
        post: operations["create_web_search"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/organization/tool-servers/{tool_server_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete Tool Server
         * @description Its tools go with it; calls that were made stay in their chats.
         */
        delete: operations["delete_tool_server"];
        options?: never;
        head?: never;
        /**
         * Update Tool Server
         * @description Rename it, switch it off, set its address or token; allow tools.
         */
        patch: operations["update_tool_server"];
        trace?: never;
    };
    "/api/organization/tool-servers/{tool_server_id}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check Tool Server
         * @description Ask the server for its tools; the provider of web search, for results. `error` says why
         *     that failed. A tool whose texts read like orders to a model is held, and one that is not what
         *     was allowed any more: `held_for`.
         */
        post: operations["check_tool_server"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get My Tools
         * @description What you can switch on, and what you let be called without asking.
         */
        get: operations["get_my_tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/tools/{tool_server_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Switch Tools
         * @description Offer a server's tools in your chats, or not; from the next turn on.
         */
        put: operations["switch_tools"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/tool-grants/{tool_grant_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke Tool Grant
         * @description Be asked again.
         */
        delete: operations["revoke_tool_grant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{conversation_id}/tool-calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Tool Calls
         * @description The newest 500, with their results.
         */
        get: operations["list_tool_calls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{conversation_id}/tool-calls/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop Tool Calls
         * @description End the turn whose tools are being called, or wait to be. What was written stays, and nobody
         *     goes on with what a tool still says. Stopping twice is fine.
         */
        post: operations["stop_tool_calls"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tool-calls/{tool_call_id}/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide Tool Call
         * @description Let it be made, or not; the answer goes on by itself. 409: it does not wait any more.
         */
        post: operations["decide_tool_call"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tool-calls/{tool_call_id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Renew Program
         * @description The page is still at it; say so every few seconds. 409: it is not its own any more.
         */
        put: operations["renew_program"];
        /**
         * Claim Program
         * @description A page of yours runs it now, and no other. 409: it is not to be run, or another page is at
         *     it.
         */
        post: operations["claim_program"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tool-calls/{tool_call_id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release Program
         * @description The page leaves: another may run it. 409: it was not its own any more.
         */
        post: operations["release_program"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tool-calls/{tool_call_id}/result": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish Program
         * @description What came of it; the answer goes on by itself. 409: it was not the page's own any more.
         */
        post: operations["finish_program"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tool-servers/{tool_server_id}/connection": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin Tool Sign In
         * @description Where the browser goes to sign in at the server. Where a manager signs in for all, only
         *     owners and admins do.
         */
        post: operations["begin_tool_sign_in"];
        /**
         * Disconnect Tool Server
         * @description Forget the tokens, and ask the authorization server to.
         */
        delete: operations["disconnect_tool_server"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tool-servers/{tool_server_id}/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Finish Tool Sign In
         * @description Where the authorization server sends the browser back to.
         */
        get: operations["finish_tool_sign_in"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** AllowedTools */
        AllowedTools: {
            /**
             * Mode
             * @enum {string}
             */
            mode: "auto" | "required";
            /** Tools */
            tools: components["schemas"]["NamedFunction"][];
        };
        /** CalledFunction */
        CalledFunction: {
            /** Name */
            name: string;
            /** Arguments */
            arguments: string;
        };
        /** ChatCompletionRequest */
        ChatCompletionRequest: {
            /** Tools */
            tools?: components["schemas"]["FunctionTool"][] | null;
            /** Tool Choice */
            tool_choice?: ("auto" | "none" | "required") | components["schemas"]["ToolChoice"] | null;
            /** Parallel Tool Calls */
            parallel_tool_calls?: boolean | null;
            /** Min Tokens */
            min_tokens?: number | null;
            /** Temperature */
            temperature?: number | null;
            /** Top P */
            top_p?: number | null;
            /** Top K */
            top_k?: number | null;
            /** Min P */
            min_p?: number | null;
            /** Presence Penalty */
            presence_penalty?: number | null;
            /** Frequency Penalty */
            frequency_penalty?: number | null;
            /** Repetition Penalty */
            repetition_penalty?: number | null;
            /** Seed */
            seed?: number | null;
            /** Stop */
            stop?: string | string[] | null;
            /** Logit Bias */
            logit_bias?: {
                [key: string]: number;
            } | null;
            /** Ignore Eos */
            ignore_eos?: boolean | null;
            /**
             * Stop On Loop
             * @description End an answer that has gone into a loop, with finish_details.type `loop`. Chat answers do unless this is false or `ignore_eos` is set.
             */
            stop_on_loop?: boolean | null;
            /** Model */
            model: string;
            /** Stream */
            stream?: boolean | null;
            stream_options?: components["schemas"]["StreamOptions"] | null;
            /** N */
            n?: number | null;
            /**
             * User
             * @description Goes into the access log, hashed.
             */
            user?: string | null;
            /** Messages */
            messages: components["schemas"]["InputMessage"][];
            /** Max Tokens */
            max_tokens?: number | null;
            /** Max Completion Tokens */
            max_completion_tokens?: number | null;
            /** Logprobs */
            logprobs?: boolean | null;
            /** Top Logprobs */
            top_logprobs?: number | null;
            response_format?: components["schemas"]["ResponseFormat"] | null;
            /** @description For models with the capability `prediction`. */
            prediction?: components["schemas"]["Prediction"] | null;
            /** Service Tier */
            service_tier?: ("auto" | "default" | "flex" | "priority") | null;
            /**
             * Reasoning Effort
             * @description For models with the capability `reasoning`.
             */
            reasoning_effort?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh") | null;
            /**
             * Verbosity
             * @description `low` and `high` are a sentence in the system message; `medium` is none.
             */
            verbosity?: ("low" | "medium" | "high") | null;
            /**
             * Store
             * @description True: it can be read later, for 30 days. False: nothing of the call outlives its delivery.
             */
            store?: boolean | null;
            /**
             * Metadata
             * @description Of a stored one.
             */
            metadata?: {
                [key: string]: string;
            } | null;
            /**
             * Safety Identifier
             * @description Goes into the access log, hashed.
             */
            safety_identifier?: string | null;
            /**
             * Prompt Cache Key
             * @description A hint. Prefixes are found by content, so it changes nothing.
             */
            prompt_cache_key?: string | null;
        };
        /** FunctionDefinition */
        FunctionDefinition: {
            /** Name */
            name: string;
            /** Description */
            description?: string | null;
            /**
             * Parameters
             * @description A JSON schema of an object; none: no arguments.
             */
            parameters?: {
                [key: string]: unknown;
            } | null;
            /**
             * Strict
             * @description A schema that cannot be held is refused, and else replaced by any object.
             */
            strict?: boolean | null;
        };
        /** FunctionName */
        FunctionName: {
            /** Name */
            name: string;
        };
        /** FunctionTool */
        FunctionTool: {
            /**
             * Type
             * @constant
             */
            type: "function";
            function: components["schemas"]["FunctionDefinition"];
        };
        /** ImagePart */
        ImagePart: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "image_url";
            image_url: components["schemas"]["ImageURL"];
        };
        /** ImageURL */
        ImageURL: {
            /** Url */
            url: string;
            /**
             * Detail
             * @default auto
             * @enum {string}
             */
            detail: "auto" | "low" | "high";
        };
        /**
         * InputMessage
         * @description One message. `developer` is OpenAI's newer name of `system`. What `tool` says is content
         *     from outside: it is read as data, and gives no orders.
         */
        InputMessage: {
            /**
             * Role
             * @enum {string}
             */
            role: "system" | "developer" | "user" | "assistant" | "tool";
            /** Name */
            name?: string | null;
            /**
             * Tool Call Id
             * @description Of `tool`: the call that it answers.
             */
            tool_call_id?: string | null;
            /**
             * Tool Calls
             * @description Of `assistant`.
             */
            tool_calls?: components["schemas"]["ToolCallIn"][] | null;
            /**
             * Reasoning Content
             * @description Of an earlier answer: taken, and not read again.
             */
            reasoning_content?: string | null;
            /**
             * Provider Specific Fields
             * @description What LiteLLM adds to an answer: taken, and not read.
             */
            provider_specific_fields?: {
                [key: string]: unknown;
            } | null;
            /**
             * Content
             * @description Null only where an assistant's message has `tool_calls`.
             */
            content?: string | (components["schemas"]["TextPart"] | components["schemas"]["ImagePart"])[] | null;
        };
        /** JsonSchema */
        JsonSchema: {
            /** Name */
            name: string;
            /** Description */
            description?: string | null;
            /** Schema */
            schema: {
                [key: string]: unknown;
            };
            /**
             * Strict
             * @description Every answer keeps to the schema, whatever this says.
             */
            strict?: boolean | null;
        };
        /** NamedFunction */
        NamedFunction: {
            /**
             * Type
             * @constant
             */
            type: "function";
            function: components["schemas"]["FunctionName"];
        };
        /**
         * Prediction
         * @description What the answer is expected to be, most of a file that is to be edited, say.
         */
        Prediction: {
            /**
             * Type
             * @constant
             */
            type: "content";
            /** Content */
            content: string | components["schemas"]["PredictionPart"][];
        };
        /** PredictionPart */
        PredictionPart: {
            /**
             * Type
             * @constant
             */
            type: "text";
            /** Text */
            text: string;
        };
        /**
         * ResponseFormat
         * @description Free text, any JSON object, or JSON of one schema.
         */
        ResponseFormat: {
            /**
             * Type
             * @enum {string}
             */
            type: "text" | "json_object" | "json_schema";
            json_schema?: components["schemas"]["JsonSchema"] | null;
        };
        /** StreamOptions */
        StreamOptions: {
            /** Include Usage */
            include_usage?: boolean | null;
            /**
             * Include Obfuscation
             * @description Accepted; no padding is ever added.
             */
            include_obfuscation?: boolean | null;
        };
        /** TextPart */
        TextPart: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text";
            /** Text */
            text: string;
        };
        /**
         * ToolCallIn
         * @description A call of an earlier answer.
         */
        ToolCallIn: {
            /** Id */
            id: string;
            /**
             * Type
             * @default function
             * @constant
             */
            type: "function";
            function: components["schemas"]["CalledFunction"];
        };
        /**
         * ToolChoice
         * @description One function, or those of `tools` that may be called.
         */
        ToolChoice: {
            /**
             * Type
             * @enum {string}
             */
            type: "function" | "allowed_tools";
            function?: components["schemas"]["FunctionName"] | null;
            allowed_tools?: components["schemas"]["AllowedTools"] | null;
        };
        /**
         * SpeechCreate
         * @description A text to be spoken.
         */
        SpeechCreate: {
            /** Input */
            input: string;
            /** Model */
            model: string;
            /** Voice */
            voice: string;
            /**
             * Response Format
             * @default mp3
             * @enum {string}
             */
            response_format: "mp3" | "opus" | "flac" | "wav" | "pcm";
            /**
             * Speed
             * @default 1
             */
            speed: number;
            /**
             * Stream Format
             * @default audio
             * @enum {string}
             */
            stream_format: "audio" | "sse";
        };
        /** ModelListOut */
        ModelListOut: {
            /**
             * Data
             * @description The first is the default.
             */
            data: components["schemas"]["ModelOut"][];
            /** Pending */
            pending: components["schemas"]["PendingModelOut"][];
        };
        /** ModelOut */
        ModelOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Context Window */
            context_window: number;
            /** Max Output Tokens */
            max_output_tokens: number;
            /** Capabilities */
            capabilities: string[];
            prices: components["schemas"]["PricesOut"] | null;
            /**
             * Status
             * @description idle: it is loaded when it is asked for, and the request waits for it.
             * @enum {string}
             */
            status: "ready" | "idle" | "loading" | "unavailable";
            /**
             * License
             * @description An SPDX name; empty where the pools file says nothing.
             */
            license: string;
            /** Notice */
            notice: string;
        };
        /**
         * PendingModelOut
         * @description A model that is being fetched or loaded; `declined`: it will not come, `detail` says why.
         */
        PendingModelOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /**
             * State
             * @enum {string}
             */
            state: "waiting" | "fetching" | "checking" | "loading" | "declined";
            /** Detail */
            detail: string;
            /** Done Bytes */
            done_bytes: number;
            /** Total Bytes */
            total_bytes: number;
            /** License */
            license: string;
            /** Notice */
            notice: string;
        };
        /**
         * PricesOut
         * @description US dollars per 1,000 tokens, begun seconds of recordings, characters spoken; null: it has no
         *     price for them.
         */
        PricesOut: {
            /** Input */
            input: string | null;
            /** Cached Input */
            cached_input: string | null;
            /** Output */
            output: string | null;
            /**
             * Reasoning
             * @description Of thoughts; the output's without one of their own.
             */
            reasoning: string | null;
            /** Audio */
            audio: string | null;
            /** Characters */
            characters: string | null;
            /**
             * Image
             * @description Of images that no cache had; the input's without one of their own.
             */
            image: string | null;
            /**
             * Cached Output
             * @description Of answers that were computed for another request; the output's without one of their own.
             */
            cached_output: string | null;
        };
        /**
         * QueuePlaceOut
         * @description Both are null for an answer that does not wait, or where it is not known.
         */
        QueuePlaceOut: {
            /**
             * Position
             * @description In the model's queue, from 1.
             */
            position: number | null;
            /**
             * Wait S
             * @description Seconds that it will probably wait.
             */
            wait_s: number | null;
        };
        /** ConversationListOut */
        ConversationListOut: {
            /** Data */
            data: components["schemas"]["SummaryOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** SummaryOut */
        SummaryOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Title */
            title: string;
            /** Model */
            model: string;
            /** Pinned */
            pinned: boolean;
            /** Archived */
            archived: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
            /** Generating */
            generating: boolean;
            /**
             * Project Id
             * @description Null: the default project.
             */
            project_id: string | null;
            /** Temporary */
            temporary: boolean;
            /**
             * Tags
             * @description Your own words for it.
             */
            tags: string[];
            /**
             * Deleted At
             * @description It can be restored for 30 days after.
             */
            deleted_at: string | null;
        };
        /** ConversationCreate */
        ConversationCreate: {
            /**
             * Title
             * @default
             */
            title: string;
            /**
             * Model
             * @description Default: the first model.
             */
            model?: string | null;
            /**
             * Project Id
             * @description Whose rules hold for it. Default: the default project.
             */
            project_id?: string | null;
            /**
             * Assistant Id
             * @description Whose instructions, model and parameters it begins with.
             */
            assistant_id?: string | null;
            /**
             * Temporary
             * @description In no list; erased when it is deleted, or after an hour without a turn.
             * @default false
             */
            temporary: boolean;
        };
        /** ExcerptPartOut */
        ExcerptPartOut: {
            /**
             * Text
             * @description As it was written: text, and never markup.
             */
            text: string;
            /**
             * Hit
             * @description It is what was looked for.
             */
            hit: boolean;
        };
        /** FoundListOut */
        FoundListOut: {
            /** Data */
            data: components["schemas"]["FoundOut"][];
        };
        /** FoundOut */
        FoundOut: {
            conversation: components["schemas"]["SummaryOut"];
            /**
             * Message Id
             * @description Null where only the title was found.
             */
            message_id: string | null;
            /** Excerpt */
            excerpt: components["schemas"]["ExcerptPartOut"][];
        };
        /** TagListOut */
        TagListOut: {
            /** Data */
            data: components["schemas"]["TagOut"][];
        };
        /** TagOut */
        TagOut: {
            /** Tag */
            tag: string;
            /**
             * Count
             * @description Of the conversations that are not archived.
             */
            count: number;
        };
        /** BulkOut */
        BulkOut: {
            /**
             * Changed
             * @description Those that are yours, and were not so already.
             */
            changed: number;
        };
        /** BulkChange */
        BulkChange: {
            /** Ids */
            ids: string[];
            /**
             * Action
             * @enum {string}
             */
            action: "archive" | "unarchive" | "delete" | "restore";
        };
        /** TrashErasedOut */
        TrashErasedOut: {
            /** Erased */
            erased: number;
            /**
             * Generating
             * @description Left in the trash, as an answer is still being generated in them.
             */
            generating: number;
            /**
             * Remaining
             * @description Not reached yet: ask again.
             */
            remaining: number;
        };
        /** TrashErase */
        TrashErase: {
            /**
             * Ids
             * @description Those in your trash; others are left alone. "all" empties it.
             */
            ids: string[] | "all";
        };
        /** ChatAssistantOut */
        ChatAssistantOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
        };
        /**
         * ChatParameters
         * @description Sampling parameters of a chat; what is null is left to the model's own defaults.
         */
        ChatParameters: {
            /** Temperature */
            temperature?: number | null;
            /** Top P */
            top_p?: number | null;
            /** Max Tokens */
            max_tokens?: number | null;
            /** Seed */
            seed?: number | null;
            /** Presence Penalty */
            presence_penalty?: number | null;
            /** Frequency Penalty */
            frequency_penalty?: number | null;
        };
        /** ComparedAnswerOut */
        ComparedAnswerOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Model */
            model: string;
            /** Status */
            status: string;
            /** Parts */
            parts: {
                [key: string]: unknown;
            }[];
            /** Generation Id */
            generation_id: string | null;
        };
        /** ComparisonOut */
        ComparisonOut: {
            /**
             * Prompt Id
             * Format: uuid
             */
            prompt_id: string;
            /**
             * Answers
             * @description One of each model.
             */
            answers: components["schemas"]["ComparedAnswerOut"][];
        };
        /** ConversationOut */
        ConversationOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Title */
            title: string;
            /** Model */
            model: string;
            /** Pinned */
            pinned: boolean;
            /** Archived */
            archived: boolean;
            /** Messages */
            messages: components["schemas"]["MessageOut"][];
            /** Has More */
            has_more: boolean;
            /** Active Message Id */
            active_message_id: string | null;
            generation: components["schemas"]["GenerationRefOut"] | null;
            /** @description Answers that stand side by side: none of them is chosen yet. */
            comparison: components["schemas"]["ComparisonOut"] | null;
            /** Instructions */
            instructions: string;
            parameters: components["schemas"]["ChatParameters"];
            /** Temporary */
            temporary: boolean;
            /** Web Search */
            web_search: boolean;
            /**
             * Project Id
             * @description Null: the default project.
             */
            project_id: string | null;
            /** @description Null where there is none, or it is not shared with you any more. */
            assistant: components["schemas"]["ChatAssistantOut"] | null;
        };
        /** FeedbackOut */
        FeedbackOut: {
            /** Rating */
            rating: number;
            /** Comment */
            comment: string;
        };
        /** GenerationRefOut */
        GenerationRefOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Message Id
             * Format: uuid
             */
            message_id: string;
        };
        /**
         * MemoryNoteOut
         * @description What became of a prompt's words in memory.
         */
        MemoryNoteOut: {
            /**
             * State
             * @enum {string}
             */
            state: "proposed" | "saved" | "dismissed";
            /** Text */
            text: string;
            /** Memory Id */
            memory_id: string | null;
        };
        /** MessageOut */
        MessageOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Parent Id */
            parent_id: string | null;
            /** Role */
            role: string;
            /** Content */
            content: string;
            /** Parts */
            parts: {
                [key: string]: unknown;
            }[];
            /** Status */
            status: string;
            /** Model */
            model: string | null;
            /** Finish Reason */
            finish_reason: string | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Siblings */
            siblings: string[];
            feedback: components["schemas"]["FeedbackOut"] | null;
            /** Generation Id */
            generation_id: string | null;
            /**
             * Has Documents
             * @description Attached files were read for it; see its sources.
             */
            has_documents: boolean;
            /** @description Of a prompt: what is proposed of its words, or was kept. */
            memory: components["schemas"]["MemoryNoteOut"] | null;
            /**
             * Memories
             * @description Of an answer: what was used of memory.
             */
            memories: components["schemas"]["UsedMemoryOut"][];
            /**
             * From Outage
             * @description It is a stored answer to the same prompt, given while its model could not answer.
             */
            from_outage: boolean;
            /**
             * Read In Part
             * @description Another model than the chosen one answered, and read only the chat's newest part.
             */
            read_in_part: boolean;
            /**
             * Support
             * @description Of an answer: the prompt speaks of self-harm, or the answer was stopped for it. Show where to find help.
             */
            support: boolean;
            /**
             * Withheld
             * @description Files that the model was not given for it, or not all of: they read like orders.
             */
            withheld: components["schemas"]["WithheldFileOut"][];
        };
        /** UsedMemoryOut */
        UsedMemoryOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Text
             * @description As it is now; null: it has been forgotten.
             */
            text: string | null;
        };
        /** WithheldFileOut */
        WithheldFileOut: {
            /**
             * Attachment Id
             * Format: uuid
             */
            attachment_id: string;
            /** Filename */
            filename: string;
            /**
             * In Part
             * @description The rest of its text was given.
             */
            in_part: boolean;
        };
        /**
         * ConversationUpdate
         * @description Absent fields stay as they are.
         */
        ConversationUpdate: {
            /** Title */
            title?: string | null;
            /** Pinned */
            pinned?: boolean | null;
            /** Archived */
            archived?: boolean | null;
            /** Model */
            model?: string | null;
            /**
             * Active Message Id
             * @description Any message; the newest leaf below it becomes active.
             */
            active_message_id?: string | null;
            /**
             * Project Id
             * @description Whose rules hold from the next turn on.
             */
            project_id?: string | null;
            /**
             * Instructions
             * @description What the model reads before the messages.
             */
            instructions?: string | null;
            /** @description Replaces all of them; null leaves them as they are. */
            parameters?: components["schemas"]["ChatParameters"] | null;
            /**
             * Tags
             * @description Replaces all of them: at most 10 of at most 40 characters.
             */
            tags?: string[] | null;
            /**
             * Web Search
             * @description Offer the model the web, where the organization has a provider.
             */
            web_search?: boolean | null;
        };
        /** ContextOut */
        ContextOut: {
            /**
             * Used
             * @description About so many tokens, rather too many than too few.
             */
            used: number;
            /**
             * Limit
             * @description What the model's window leaves beside an answer.
             */
            limit: number;
            /**
             * Begins With
             * @description The first words that are read; null where nothing before them is left out.
             */
            begins_with: string | null;
            /** @description Of the active branch; null while all of its messages are read themselves. */
            summary: components["schemas"]["ContextSummaryOut"] | null;
            /**
             * Summarises
             * @description Whether the beginning is summarised by itself when the chat is full.
             */
            summarises: boolean;
        };
        /**
         * ContextSummaryOut
         * @description Read by the model in place of the messages down to one; no instruction to it.
         */
        ContextSummaryOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Through Message Id
             * Format: uuid
             * @description The last message that it stands for.
             */
            through_message_id: string;
            /** Text */
            text: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /** ImportOut */
        ImportOut: {
            /** Imported */
            imported: number;
            /**
             * Present
             * @description They had been imported before.
             */
            present: number;
            /** Refused */
            refused: components["schemas"]["RefusedOut"][];
        };
        /** RefusedOut */
        RefusedOut: {
            /**
             * Place
             * @description In the list of the request, from 0.
             */
            place: number;
            /** Reason */
            reason: string;
        };
        /** ImportBody */
        ImportBody: {
            /**
             * Conversations
             * @description As they stand in ChatGPT's or Claude's `conversations.json`, in Open WebUI's export, or in ours.
             */
            conversations: {
                [key: string]: unknown;
            }[];
        };
        /** AttachmentPartIn */
        AttachmentPartIn: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "file" | "image";
            /**
             * Attachment Id
             * Format: uuid
             */
            attachment_id: string;
            /**
             * Filename
             * @description Ignored: the upload has its name.
             */
            filename?: string | null;
        };
        /** TextPartIn */
        TextPartIn: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text";
            /** Text */
            text: string;
        };
        /**
         * TurnCreate
         * @description A prompt. Without `parent_id` it follows the active leaf; null starts a new root.
         */
        TurnCreate: {
            /** Content */
            content: string | (components["schemas"]["TextPartIn"] | components["schemas"]["AttachmentPartIn"])[];
            /** Parent Id */
            parent_id?: string | null;
            /** Model */
            model?: string | null;
            /** Temperature */
            temperature?: number | null;
            /** Max Tokens */
            max_tokens?: number | null;
            /**
             * Tool Choice
             * @description "none": the model is offered no tools.
             * @default auto
             * @enum {string}
             */
            tool_choice: "auto" | "none";
            /**
             * Page Tools
             * @description What the page that asks can run: the model is offered it, where its person has switched it on.
             * @default []
             */
            page_tools: "python"[];
        };
        /** TurnRegenerate */
        TurnRegenerate: {
            /** Model */
            model?: string | null;
            /**
             * Tool Choice
             * @description "none": the model is offered no tools.
             * @default auto
             * @enum {string}
             */
            tool_choice: "auto" | "none";
            /**
             * Page Tools
             * @description What the page that asks can run: the model is offered it, where its person has switched it on.
             * @default []
             */
            page_tools: "python"[];
            /**
             * Beside
             * @description Its place among the prompt's answers, the first is 0: they stand side by side until one of them is chosen (`active_message_id`), or the chat goes on.
             */
            beside?: number | null;
        };
        /** SentMessageOut */
        SentMessageOut: {
            /** Role */
            role: string;
            /**
             * Text
             * @description With the texts of attached files.
             */
            text: string;
            /** Images */
            images: number;
        };
        /** SentPromptOut */
        SentPromptOut: {
            /** Model */
            model: string | null;
            /**
             * Instructions
             * @description The system message; empty where there was none.
             */
            instructions: string;
            parameters: components["schemas"]["ChatParameters"];
            /** Messages */
            messages: components["schemas"]["SentMessageOut"][];
            /** Input Tokens */
            input_tokens: number;
            /** Output Tokens */
            output_tokens: number;
            /**
             * Cost
             * @description Before volume tiers; null where it is not in the ledger, or has no price.
             */
            cost: string | null;
            /** Currency */
            currency: string;
            /**
             * Stations
             * @description Milliseconds that the answer was at each station on its way, in their order; null where they are not known.
             */
            stations: {
                [key: string]: number;
            } | null;
            /**
             * Answer Source
             * @description Whose answer it got: `shared`, of an identical request while it ran; `exact`, a stored one; `outage`, a stored one while its model could not answer. Empty: it was computed.
             */
            answer_source: string;
        };
        /** SourceOut */
        SourceOut: {
            /**
             * Attachment Id
             * Format: uuid
             */
            attachment_id: string;
            /** Filename */
            filename: string;
            /**
             * Place
             * @description As it is cited: "page 3".
             */
            place: string;
            /** Text */
            text: string;
            /** Cited */
            cited: boolean;
            /**
             * Cited As
             * @description What stands between square brackets where the answer cites it.
             */
            cited_as: string[];
        };
        /** SourcesOut */
        SourcesOut: {
            /** Data */
            data: components["schemas"]["SourceOut"][];
        };
        /** WithheldOut */
        WithheldOut: {
            /** Data */
            data: components["schemas"]["WithheldTextOut"][];
        };
        /** WithheldTextOut */
        WithheldTextOut: {
            /**
             * Attachment Id
             * Format: uuid
             */
            attachment_id: string;
            /** Filename */
            filename: string;
            /**
             * In Part
             * @description The rest of its text was given.
             */
            in_part: boolean;
            /**
             * Text
             * @description What the model was not given; of an image what OCR has read.
             */
            text: string;
        };
        /** ChatDefaultsOut */
        ChatDefaultsOut: {
            /** About */
            about: string;
            /** Style */
            style: string;
            parameters: components["schemas"]["ChatParameters"];
            /** Summarises */
            summarises: boolean;
        };
        /** ChatDefaultsBody */
        ChatDefaultsBody: {
            /**
             * About
             * @description What you say about yourself.
             * @default
             */
            about: string;
            /**
             * Style
             * @description How you want to be answered.
             * @default
             */
            style: string;
            /** @description What a new chat of yours begins with. */
            parameters?: components["schemas"]["ChatParameters"];
            /**
             * Summarises
             * @description Whether the beginning of your long chats is summarised. Null: as it is.
             */
            summarises?: boolean | null;
        };
        /** FeedbackIn */
        FeedbackIn: {
            /**
             * Rating
             * @description Null takes it back.
             */
            rating: (1 | -1) | null;
            /**
             * Comment
             * @default
             */
            comment: string;
        };
        /** MemoryListOut */
        MemoryListOut: {
            /** Data */
            data: components["schemas"]["MemoryOut"][];
            /**
             * Is On
             * @description Your own switch.
             */
            is_on: boolean;
            /**
             * Is Allowed
             * @description The organization's.
             */
            is_allowed: boolean;
        };
        /** MemoryOut */
        MemoryOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Text */
            text: string;
            /**
             * Project Id
             * @description Null: the default project.
             */
            project_id: string | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Used At
             * @description When a prompt last had words of it, to about an hour.
             */
            used_at: string | null;
        };
        /** MemoryCreate */
        MemoryCreate: {
            /** Text */
            text: string;
            /**
             * Project Id
             * @description Whose chats read it. Default: those of the default project.
             */
            project_id?: string | null;
        };
        /** ForgottenOut */
        ForgottenOut: {
            /** Forgotten */
            forgotten: number;
        };
        /** MemorySwitch */
        MemorySwitch: {
            /** Is On */
            is_on: boolean;
        };
        /** MemoryPolicyBody */
        MemoryPolicyBody: {
            /** Is Allowed */
            is_allowed: boolean;
        };
        /** MemoryTextBody */
        MemoryTextBody: {
            /** Text */
            text: string;
        };
        /** ShareListOut */
        ShareListOut: {
            /** Data */
            data: components["schemas"]["ShareOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** ShareOut */
        ShareOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Title */
            title: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
        };
        /** NewShareOut */
        NewShareOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Title */
            title: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
            /**
             * Token
             * @description Shown this once.
             */
            token: string;
            /** Url */
            url: string;
        };
        /** ShareCreate */
        ShareCreate: {
            /**
             * Expires In Days
             * @default 30
             */
            expires_in_days: number;
        };
        /** ListedShareOut */
        ListedShareOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Conversation Id
             * @description Null for a colleague's link.
             */
            conversation_id: string | null;
            /**
             * Title
             * @description Null for a colleague's link: what it shows is theirs.
             */
            title: string | null;
            /**
             * Created By
             * @description Name, or e-mail address, of who shares.
             */
            created_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
        };
        /** SharePageOut */
        SharePageOut: {
            /** Data */
            data: components["schemas"]["ListedShareOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** SharingOut */
        SharingOut: {
            /** Is Allowed */
            is_allowed: boolean;
            /** Default Days */
            default_days: number;
            /** Max Days */
            max_days: number;
        };
        /** SharingUpdate */
        SharingUpdate: {
            /** Is Allowed */
            is_allowed: boolean;
        };
        /** SharedMessageOut */
        SharedMessageOut: {
            /** Id */
            id: string;
            /** Role */
            role: string;
            /** Content */
            content: string;
            /**
             * Attachments
             * @description File names only.
             */
            attachments: string[];
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /** SharedOut */
        SharedOut: {
            /** Title */
            title: string;
            /** Model */
            model: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
            /** Messages */
            messages: components["schemas"]["SharedMessageOut"][];
        };
        /** AttachmentOut */
        AttachmentOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Filename */
            filename: string;
            /** Content Type */
            content_type: string;
            /** Size */
            size: number;
        };
        /** AssistantOut */
        AssistantOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
            /** Description */
            description: string;
            /** Instructions */
            instructions: string;
            /**
             * Model
             * @description Null: the model of the person.
             */
            model: string | null;
            parameters: components["schemas"]["ChatParameters"];
            /** Starters */
            starters: string[];
            /**
             * Tools
             * @description What its chats may call; null: what the person has switched on.
             */
            tools: components["schemas"]["AssistantToolOut"][] | null;
            /** Seen By */
            seen_by: string[];
            /** Edited By */
            edited_by: string[];
            /**
             * Author
             * @description The name of who made it.
             */
            author: string;
            /** Own */
            own: boolean;
            /** May Edit */
            may_edit: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
        };
        /** AssistantPageOut */
        AssistantPageOut: {
            /** Data */
            data: components["schemas"]["AssistantOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** AssistantToolOut */
        AssistantToolOut: {
            /**
             * Server Id
             * Format: uuid
             */
            server_id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "mcp" | "searxng" | "brave" | "tavily" | "python";
            /** Server */
            server: string;
            /** Name */
            name: string;
            /** Title */
            title: string;
        };
        /** AssistantCreate */
        AssistantCreate: {
            /** Name */
            name: string;
            /** Description */
            description?: string | null;
            /**
             * Instructions
             * @description What the model reads before the messages of each of its chats.
             */
            instructions?: string | null;
            /**
             * Model
             * @description That its chats begin with; null: the model of the person.
             */
            model?: string | null;
            /** @description What its chats begin with. Replaces all of them. */
            parameters?: components["schemas"]["ChatParameters"] | null;
            /**
             * Starters
             * @description Prompts that an empty chat with it offers.
             */
            starters?: string[] | null;
            /**
             * Tools
             * @description What its chats may call, of the tools that the organization allows; null: what the person has switched on.
             */
            tools?: components["schemas"]["AssistantToolBody"][] | null;
            /**
             * Seen By
             * @description Roles of the organization that see and use it. Empty: nobody.
             */
            seen_by?: ("owner" | "admin" | "member" | "finance" | "viewer")[] | null;
            /**
             * Edited By
             * @description Roles that change and delete it too; they see it by that.
             */
            edited_by?: ("owner" | "admin" | "member" | "finance" | "viewer")[] | null;
        };
        /** AssistantToolBody */
        AssistantToolBody: {
            /**
             * Server Id
             * Format: uuid
             */
            server_id: string;
            /** Name */
            name: string;
        };
        /** UsableToolsOut */
        UsableToolsOut: {
            /** Data */
            data: components["schemas"]["AssistantToolOut"][];
        };
        /**
         * AssistantUpdate
         * @description Absent fields stay as they are; a list replaces the one before.
         */
        AssistantUpdate: {
            /** Name */
            name?: string | null;
            /** Description */
            description?: string | null;
            /**
             * Instructions
             * @description What the model reads before the messages of each of its chats.
             */
            instructions?: string | null;
            /**
             * Model
             * @description That its chats begin with; null: the model of the person.
             */
            model?: string | null;
            /** @description What its chats begin with. Replaces all of them. */
            parameters?: components["schemas"]["ChatParameters"] | null;
            /**
             * Starters
             * @description Prompts that an empty chat with it offers.
             */
            starters?: string[] | null;
            /**
             * Tools
             * @description What its chats may call, of the tools that the organization allows; null: what the person has switched on.
             */
            tools?: components["schemas"]["AssistantToolBody"][] | null;
            /**
             * Seen By
             * @description Roles of the organization that see and use it. Empty: nobody.
             */
            seen_by?: ("owner" | "admin" | "member" | "finance" | "viewer")[] | null;
            /**
             * Edited By
             * @description Roles that change and delete it too; they see it by that.
             */
            edited_by?: ("owner" | "admin" | "member" | "finance" | "viewer")[] | null;
        };
        /** SharedFileListOut */
        SharedFileListOut: {
            /** Data */
            data: components["schemas"]["SharedFileOut"][];
        };
        /** SharedFileOut */
        SharedFileOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Filename */
            filename: string;
            /** Content Type */
            content_type: string;
            /** Size */
            size: number;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /** SharedFileAdd */
        SharedFileAdd: {
            /**
             * Attachment Id
             * Format: uuid
             * @description An upload of your own that no message uses.
             */
            attachment_id: string;
        };
        /**
         * AppealOut
         * @description An appeal as its author sees it.
         */
        AppealOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Generation Id
             * Format: uuid
             */
            generation_id: string;
            /**
             * State
             * @enum {string}
             */
            state: "open" | "confirmed" | "overturned";
            /**
             * Note
             * @description What the reviewer wrote to the user.
             */
            note: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Resolved At */
            resolved_at: string | null;
        };
        /** AppealIn */
        AppealIn: {
            /**
             * Generation Id
             * Format: uuid
             */
            generation_id: string;
            /**
             * Reason
             * @default
             */
            reason: string;
        };
        /** AppealListOut */
        AppealListOut: {
            /** Data */
            data: components["schemas"]["AppealOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** KeyListOut */
        KeyListOut: {
            /** Data */
            data: components["schemas"]["KeyOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** KeyOut */
        KeyOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
            /** Prefix */
            prefix: string;
            /** Scopes */
            scopes: string[];
            /**
             * Project Id
             * Format: uuid
             */
            project_id: string;
            /**
             * Project
             * @description Its name.
             */
            project: string;
            /**
             * Created By
             * @description Name, or e-mail address, of whose it is.
             */
            created_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Last Used At */
            last_used_at: string | null;
            /** Expires At */
            expires_at: string | null;
        };
        /** NewKeyOut */
        NewKeyOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
            /** Prefix */
            prefix: string;
            /** Scopes */
            scopes: string[];
            /**
             * Project Id
             * Format: uuid
             */
            project_id: string;
            /**
             * Project
             * @description Its name.
             */
            project: string;
            /**
             * Created By
             * @description Name, or e-mail address, of whose it is.
             */
            created_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Last Used At */
            last_used_at: string | null;
            /** Expires At */
            expires_at: string | null;
            /**
             * Secret
             * @description Shown this once.
             */
            secret: string;
        };
        /** KeyCreate */
        KeyCreate: {
            /** Name */
            name: string;
            /**
             * Scopes
             * @description Empty: everything.
             */
            scopes?: components["schemas"]["Scope"][];
            /** Expires At */
            expires_at?: string | null;
            /**
             * Project Id
             * @description Without: the default project.
             */
            project_id?: string | null;
        };
        /**
         * Scope
         * @description INFERENCE: the models, `/v1`. AUDIT: the audit log. ADMINISTRATION: members, invitations and
         *     projects, by `/v1/organization`; a key has it only where it was given. The others: the
         *     same-named parts of `/api`.
         * @enum {string}
         */
        Scope: "inference" | "conversations" | "usage" | "keys" | "audit" | "administration";
        /** KeyLimitsOut */
        KeyLimitsOut: {
            /** Data */
            data: components["schemas"]["LimitOut"][];
        };
        /**
         * LimitOut
         * @description One holder of limits, with what is left at this moment.
         */
        LimitOut: {
            /**
             * Holder
             * @description `organization`, `user`, `API key` or `project`.
             */
            holder: string;
            /**
             * Model
             * @description Null: of all models together.
             */
            model: string | null;
            /**
             * Requests Limit
             * @description A minute.
             */
            requests_limit: number;
            /** Requests Remaining */
            requests_remaining: number;
            /**
             * Requests Reset S
             * @description Seconds until nothing of it is used.
             */
            requests_reset_s: number;
            /** Tokens Limit */
            tokens_limit: number;
            /** Tokens Remaining */
            tokens_remaining: number;
            /** Tokens Reset S */
            tokens_reset_s: number;
            /** Concurrent Limit */
            concurrent_limit: number;
            /** Concurrent Running */
            concurrent_running: number;
        };
        /**
         * KeyOutcomesOut
         * @description The most frequent first.
         */
        KeyOutcomesOut: {
            /** Requests */
            requests: number;
            /** Failed */
            failed: number;
            /** Data */
            data: components["schemas"]["OutcomeOut"][];
        };
        /** OutcomeOut */
        OutcomeOut: {
            /** Path */
            path: string;
            /** Status */
            status: number;
            /**
             * Code
             * @description Of the error; empty where there was none.
             */
            code: string;
            /** Requests */
            requests: number;
        };
        /** RequestLogOut */
        RequestLogOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Key Id
             * Format: uuid
             */
            key_id: string;
            /** Path */
            path: string;
            /** Model */
            model: string;
            /** Status */
            status: number;
            /** Code */
            code: string;
            /** Duration Ms */
            duration_ms: number;
            /** Input Tokens */
            input_tokens: number;
            /** Output Tokens */
            output_tokens: number;
            /** Request Id */
            request_id: string;
        };
        /** RequestLogPageOut */
        RequestLogPageOut: {
            /** Data */
            data: components["schemas"]["RequestLogOut"][];
            /**
             * Next Cursor
             * @description There is more, or more to be searched.
             */
            next_cursor: string | null;
        };
        /**
         * RequestLogViewOut
         * @description With its content, where that is kept.
         */
        RequestLogViewOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Key Id
             * Format: uuid
             */
            key_id: string;
            /** Path */
            path: string;
            /** Model */
            model: string;
            /** Status */
            status: number;
            /** Code */
            code: string;
            /** Duration Ms */
            duration_ms: number;
            /** Input Tokens */
            input_tokens: number;
            /** Output Tokens */
            output_tokens: number;
            /** Request Id */
            request_id: string;
            /** Request */
            request?: {
                [key: string]: unknown;
            } | null;
            /** Answer */
            answer?: {
                [key: string]: unknown;
            } | null;
            /**
             * Chat
             * @description The same as a chat completion; null where it is none.
             */
            chat?: {
                [key: string]: unknown;
            } | null;
        };
        /** OrganizationDetailOut */
        OrganizationDetailOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
            /** Plan */
            plan: string;
            /**
             * Suspended
             * @description The reason while it is not served; null else.
             */
            suspended?: string | null;
            /**
             * Seats
             * @description Of the plan; null where it has any number.
             */
            seats: number | null;
            /** Seats Taken */
            seats_taken: number;
            /**
             * Invited
             * @description Open invitations to addresses.
             */
            invited: number;
        };
        /** OrganizationUpdate */
        OrganizationUpdate: {
            /** Name */
            name: string;
        };
        /** OwnershipTransfer */
        OwnershipTransfer: {
            /**
             * User Id
             * Format: uuid
             */
            user_id: string;
        };
        /** MemberOut */
        MemberOut: {
            /**
             * User Id
             * Format: uuid
             */
            user_id: string;
            /** Name */
            name: string;
            /** Email */
            email: string;
            /** Role */
            role: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /** MemberPageOut */
        MemberPageOut: {
            /** Data */
            data: components["schemas"]["MemberOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** MemberUpdate */
        MemberUpdate: {
            /**
             * Role
             * @enum {string}
             */
            role: "owner" | "admin" | "member" | "finance" | "viewer";
        };
        /**
         * MemberRemove
         * @description What becomes of what is theirs.
         */
        MemberRemove: {
            /**
             * Chats
             * @description keep: they stay theirs, and are read again by nobody else; hand_over: they are another member's; delete: final after 30 days.
             * @enum {string}
             */
            chats: "keep" | "hand_over" | "delete";
            /**
             * Chats To
             * @description With hand_over: the other member.
             */
            chats_to?: string | null;
            /**
             * Keys
             * @description revoke: they stop working; service_account: one in each key's project holds them. Keys that administer the organization always stop.
             * @enum {string}
             */
            keys: "revoke" | "service_account";
        };
        /** InvitationOut */
        InvitationOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Email
             * @description Null for a link.
             */
            email: string | null;
            /** Role */
            role: string;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "accepted" | "expired" | "revoked";
            /** Uses */
            uses: number;
            /** Max Uses */
            max_uses: number;
            /** Invited By */
            invited_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
            /** Accepted At */
            accepted_at: string | null;
        };
        /** InvitationPageOut */
        InvitationPageOut: {
            /** Data */
            data: components["schemas"]["InvitationOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** NewInvitationOut */
        NewInvitationOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Email
             * @description Null for a link.
             */
            email: string | null;
            /** Role */
            role: string;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "accepted" | "expired" | "revoked";
            /** Uses */
            uses: number;
            /** Max Uses */
            max_uses: number;
            /** Invited By */
            invited_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
            /** Accepted At */
            accepted_at: string | null;
            /**
             * Url
             * @description Of a link, shown this once; a mailed one is in the mail.
             */
            url: string | null;
        };
        /** InvitationCreate */
        InvitationCreate: {
            /**
             * Role
             * @enum {string}
             */
            role: "owner" | "admin" | "member" | "finance" | "viewer";
            /**
             * Email
             * @description Without: a link to be handed on.
             */
            email?: string | null;
            /**
             * Expires In Days
             * @default 7
             */
            expires_in_days: number;
            /**
             * Max Uses
             * @description Of a link; 1 for an address.
             * @default 1
             */
            max_uses: number;
            /** Projects */
            projects?: components["schemas"]["ProjectPlaceIn"][];
        };
        /** ProjectPlaceIn */
        ProjectPlaceIn: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Role
             * @default member
             * @enum {string}
             */
            role: "owner" | "member";
        };
        /** DomainOut */
        DomainOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Domain */
            domain: string;
            /**
             * Join
             * @description How people whose verified address is there join: by request, or at once.
             * @enum {string}
             */
            join: "request" | "automatic";
            /**
             * Record Name
             * @description Where the TXT record has to be.
             */
            record_name: string;
            /**
             * Record Value
             * @description What it has to say.
             */
            record_value: string;
            /** Verified At */
            verified_at: string | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /** DomainPageOut */
        DomainPageOut: {
            /** Data */
            data: components["schemas"]["DomainOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** DomainAdd */
        DomainAdd: {
            /** Domain */
            domain: string;
            /**
             * Join
             * @default request
             * @enum {string}
             */
            join: "request" | "automatic";
        };
        /** DomainUpdate */
        DomainUpdate: {
            /**
             * Join
             * @enum {string}
             */
            join: "request" | "automatic";
        };
        /** JoinRequestOut */
        JoinRequestOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * User Id
             * Format: uuid
             */
            user_id: string;
            /** Name */
            name: string;
            /** Email */
            email: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /** JoinRequestPageOut */
        JoinRequestPageOut: {
            /** Data */
            data: components["schemas"]["JoinRequestOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** ProjectOut */
        ProjectOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
            /** Is Default */
            is_default: boolean;
            /** Allowed Models */
            allowed_models: string[];
            /** Retention Days */
            retention_days: number | null;
            /**
             * Instructions
             * @description Empty for who sees the project without being in it.
             */
            instructions: string;
            /** Logs Requests */
            logs_requests: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Archived At */
            archived_at: string | null;
        };
        /** ProjectPageOut */
        ProjectPageOut: {
            /** Data */
            data: components["schemas"]["ProjectOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** ProjectCreate */
        ProjectCreate: {
            /** Name */
            name: string;
        };
        /** ProjectViewOut */
        ProjectViewOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
            /** Is Default */
            is_default: boolean;
            /** Allowed Models */
            allowed_models: string[];
            /** Retention Days */
            retention_days: number | null;
            /**
             * Instructions
             * @description Empty for who sees the project without being in it.
             */
            instructions: string;
            /** Logs Requests */
            logs_requests: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Archived At */
            archived_at: string | null;
            /**
             * Is Open
             * @description Whether the caller reads its instructions and files, and begins chats in it.
             */
            is_open: boolean;
            /**
             * Manages
             * @description Whether the caller may change it and what is in it.
             */
            manages: boolean;
        };
        /**
         * ProjectUpdate
         * @description What is left out stays as it is.
         */
        ProjectUpdate: {
            /** Name */
            name?: string | null;
            /**
             * Allowed Models
             * @description Empty: all.
             */
            allowed_models?: string[] | null;
            /**
             * Retention Days
             * @description Its chats go so many days after the last turn; null: never.
             */
            retention_days?: number | null;
            /**
             * Instructions
             * @description What the model reads in each of its chats. The default project has none.
             */
            instructions?: string | null;
            /**
             * Logs Requests
             * @description False: requests of its keys are not logged.
             */
            logs_requests?: boolean | null;
        };
        /** ProjectMemberOut */
        ProjectMemberOut: {
            /**
             * User Id
             * Format: uuid
             */
            user_id: string;
            /** Name */
            name: string;
            /** Email */
            email: string;
            /** Role */
            role: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /** ProjectMemberPageOut */
        ProjectMemberPageOut: {
            /** Data */
            data: components["schemas"]["ProjectMemberOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** ProjectMemberAdd */
        ProjectMemberAdd: {
            /**
             * User Id
             * Format: uuid
             */
            user_id: string;
            /**
             * Role
             * @default member
             * @enum {string}
             */
            role: "owner" | "member";
        };
        /** ProjectMemberUpdate */
        ProjectMemberUpdate: {
            /**
             * Role
             * @enum {string}
             */
            role: "owner" | "member";
        };
        /** ServiceAccountOut */
        ServiceAccountOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /** ServiceAccountPageOut */
        ServiceAccountPageOut: {
            /** Data */
            data: components["schemas"]["ServiceAccountOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** NewServiceAccountOut */
        NewServiceAccountOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Secret
             * @description Of its first key; shown this once.
             */
            secret: string;
        };
        /** ServiceAccountCreate */
        ServiceAccountCreate: {
            /** Name */
            name: string;
        };
        /** ProjectLimitListOut */
        ProjectLimitListOut: {
            /** Data */
            data: components["schemas"]["ProjectLimitOut"][];
        };
        /** ProjectLimitOut */
        ProjectLimitOut: {
            /** Model */
            model: string;
            /** Requests Per Minute */
            requests_per_minute: number;
            /** Tokens Per Minute */
            tokens_per_minute: number;
        };
        /** ProjectLimitSet */
        ProjectLimitSet: {
            /** Requests Per Minute */
            requests_per_minute: number;
            /** Tokens Per Minute */
            tokens_per_minute: number;
        };
        /** ProjectKeyPageOut */
        ProjectKeyPageOut: {
            /** Data */
            data: components["schemas"]["KeyOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** UsageOut */
        UsageOut: {
            /** Period */
            period: string;
            /** Input Tokens */
            input_tokens: number;
            /** Cached Input Tokens */
            cached_input_tokens: number;
            /** Output Tokens */
            output_tokens: number;
            /**
             * Reasoning Tokens
             * @description Of the output, what models thought.
             */
            reasoning_tokens: number;
            /**
             * Image Tokens
             * @description Of the input, what images were and no cache had.
             */
            image_tokens: number;
            /**
             * Cached Output Tokens
             * @description Of the output, what was computed for another request.
             */
            cached_output_tokens: number;
            /**
             * Currency
             * @description What the organization pays in.
             */
            currency: string;
            /**
             * Cost
             * @description Exact, in that currency.
             */
            cost: string;
            /**
             * Cost Usd
             * @description The same, where that is USD; else null.
             */
            cost_usd: string | null;
            /** Data */
            data: components["schemas"]["UsageRowOut"][];
        };
        /** UsageRowOut */
        UsageRowOut: {
            /** Key */
            key: string;
            /** Label */
            label: string;
            /** Input Tokens */
            input_tokens: number;
            /** Cached Input Tokens */
            cached_input_tokens: number;
            /** Output Tokens */
            output_tokens: number;
            /**
             * Reasoning Tokens
             * @description Of the output, what models thought.
             */
            reasoning_tokens: number;
            /**
             * Image Tokens
             * @description Of the input, what images were and no cache had.
             */
            image_tokens: number;
            /**
             * Cached Output Tokens
             * @description Of the output, what was computed for another request.
             */
            cached_output_tokens: number;
            /**
             * Cost
             * @description Exact, in the summary's currency.
             */
            cost: string;
            /**
             * Cost Usd
             * @description The same, where that is USD; else null.
             */
            cost_usd: string | null;
        };
        /** InvoiceListOut */
        InvoiceListOut: {
            /** Data */
            data: components["schemas"]["InvoiceOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** InvoiceOut */
        InvoiceOut: {
            /** Id */
            id: number;
            /** Number */
            number: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "invoice" | "credit_note";
            /**
             * Status
             * @enum {string}
             */
            status: "open" | "paid" | "void";
            /**
             * Period
             * @description A month, such as 2026-11.
             */
            period: string;
            /** Currency */
            currency: string;
            /** Subtotal */
            subtotal: string;
            /** Credit Applied */
            credit_applied: string;
            /** Tax Rate */
            tax_rate: string;
            /** Tax */
            tax: string;
            /** Total */
            total: string;
            /**
             * Corrects
             * @description Of a credit note: the invoice's number.
             */
            corrects: string | null;
            /** Reason */
            reason: string;
            /**
             * Issued At
             * Format: date-time
             */
            issued_at: string;
            /** Due At */
            due_at: string | null;
            /** Paid At */
            paid_at: string | null;
        };
        /** InvoiceDetailOut */
        InvoiceDetailOut: {
            /** Id */
            id: number;
            /** Number */
            number: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "invoice" | "credit_note";
            /**
             * Status
             * @enum {string}
             */
            status: "open" | "paid" | "void";
            /**
             * Period
             * @description A month, such as 2026-11.
             */
            period: string;
            /** Currency */
            currency: string;
            /** Subtotal */
            subtotal: string;
            /** Credit Applied */
            credit_applied: string;
            /** Tax Rate */
            tax_rate: string;
            /** Tax */
            tax: string;
            /** Total */
            total: string;
            /**
             * Corrects
             * @description Of a credit note: the invoice's number.
             */
            corrects: string | null;
            /** Reason */
            reason: string;
            /**
             * Issued At
             * Format: date-time
             */
            issued_at: string;
            /** Due At */
            due_at: string | null;
            /** Paid At */
            paid_at: string | null;
            /** Lines */
            lines: components["schemas"]["InvoiceLineOut"][];
        };
        /** InvoiceLineOut */
        InvoiceLineOut: {
            /**
             * Project Id
             * Format: uuid
             */
            project_id: string;
            /** Project Name */
            project_name: string;
            /** Model */
            model: string;
            /**
             * Usage Month
             * Format: date
             */
            usage_month: string;
            /** Is Late */
            is_late: boolean;
            /**
             * At Project Price
             * @description At prices of the project's own.
             */
            at_project_price: boolean;
            /** Requests */
            requests: number;
            /** Input Tokens */
            input_tokens: number;
            /** Cached Input Tokens */
            cached_input_tokens: number;
            /** Output Tokens */
            output_tokens: number;
            /** Reasoning Tokens */
            reasoning_tokens: number;
            /** Image Tokens */
            image_tokens: number;
            /** Cached Output Tokens */
            cached_output_tokens: number;
            /**
             * Amount
             * @description Exact; only the invoice's totals are rounded.
             */
            amount: string;
        };
        /** BillingOut */
        BillingOut: {
            /**
             * Is Configured
             * @description Whether customers can pay on this installation.
             */
            is_configured: boolean;
            /** Currency */
            currency: string;
            /** Plan */
            plan: string;
            /** Plan Name */
            plan_name: string;
            /** Plans */
            plans: components["schemas"]["PlanOut"][];
            /** Payment Method */
            payment_method: string | null;
            /** Is Prepaid */
            is_prepaid: boolean;
            /** Credit */
            credit: string;
            /** Unpaid */
            unpaid: components["schemas"]["UnpaidOut"][];
            details: components["schemas"]["DetailsOut"];
        };
        /** DetailsOut */
        DetailsOut: {
            /** Legal Name */
            legal_name: string;
            /** Address */
            address: string;
            /** Tax Id */
            tax_id: string;
            /** Country */
            country: string;
            /** Email */
            email: string;
            /**
             * Language
             * @description Of invoices, BCP 47; empty: the owner's.
             */
            language: string;
        };
        /** PlanOut */
        PlanOut: {
            /** Slug */
            slug: string;
            /** Name */
            name: string;
            /**
             * Amount
             * @description A month, before tax.
             */
            amount: string;
        };
        /** UnpaidOut */
        UnpaidOut: {
            /** Number */
            number: string;
            /** Total */
            total: string;
            /** Currency */
            currency: string;
            /** Due At */
            due_at: string | null;
        };
        /** PlanIn */
        PlanIn: {
            /** Plan */
            plan: string;
        };
        /**
         * DetailsIn
         * @description Who is invoiced; what is left out stays.
         */
        DetailsIn: {
            /** Legal Name */
            legal_name?: string | null;
            /** Address */
            address?: string | null;
            /** Tax Id */
            tax_id?: string | null;
            /** Country */
            country?: string | null;
            /** Email */
            email?: string | null;
            /** Language */
            language?: string | null;
        };
        /** PaymentPageOut */
        PaymentPageOut: {
            /**
             * Url
             * @description At the payment provider; it leads back to /billing.
             */
            url: string;
        };
        /** TopUpListOut */
        TopUpListOut: {
            /** Data */
            data: components["schemas"]["TopUpOut"][];
            /** Has More */
            has_more: boolean;
        };
        /** TopUpOut */
        TopUpOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Amount */
            amount: string;
            /** Currency */
            currency: string;
            /**
             * State
             * @enum {string}
             */
            state: "pending" | "paid" | "expired";
            /**
             * Taken Back
             * @description By refunds and disputes.
             */
            taken_back: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Paid At */
            paid_at: string | null;
        };
        /** NewTopUpOut */
        NewTopUpOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Amount */
            amount: string;
            /** Currency */
            currency: string;
            /**
             * State
             * @enum {string}
             */
            state: "pending" | "paid" | "expired";
            /**
             * Taken Back
             * @description By refunds and disputes.
             */
            taken_back: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Paid At */
            paid_at: string | null;
            /**
             * Url
             * @description Where it is paid.
             */
            url: string;
        };
        /** TopUpIn */
        TopUpIn: {
            /** Amount */
            amount: number | string;
        };
        /** EventOut */
        EventOut: {
            /** Effect */
            effect: string;
        };
        /** BudgetListOut */
        BudgetListOut: {
            /** Data */
            data: components["schemas"]["BudgetOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** BudgetOut */
        BudgetOut: {
            /** Id */
            id: number;
            /**
             * Scope
             * @enum {string}
             */
            scope: "organization" | "project" | "key";
            /** Label */
            label: string;
            /** Project Id */
            project_id: string | null;
            /** Key Id */
            key_id: string | null;
            /** Amount */
            amount: string;
            /** Currency */
            currency: string;
            /** Is Hard */
            is_hard: boolean;
            /**
             * Spent
             * @description In the current month, exact.
             */
            spent: string;
        };
        /** BudgetIn */
        BudgetIn: {
            /** Amount */
            amount: number | string;
            /**
             * Is Hard
             * @default false
             */
            is_hard: boolean;
            /** Project Id */
            project_id?: string | null;
            /** Key Id */
            key_id?: string | null;
        };
        /** CreditOut */
        CreditOut: {
            /** Is Prepaid */
            is_prepaid: boolean;
            /** Currency */
            currency: string;
            /** Remaining */
            remaining: string;
        };
        /** WebhookListOut */
        WebhookListOut: {
            /** Data */
            data: components["schemas"]["WebhookOut"][];
        };
        /** WebhookOut */
        WebhookOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Url */
            url: string;
            /** Types */
            types: string[];
            /** Enabled */
            enabled: boolean;
            /**
             * Failures
             * @description In a row; 0 once a delivery has arrived.
             */
            failures: number;
            /** Failing Since */
            failing_since: string | null;
            /**
             * Disabled At
             * @description Since when it is not called any more, after repeated failure.
             */
            disabled_at: string | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /** NewWebhookOut */
        NewWebhookOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Url */
            url: string;
            /** Types */
            types: string[];
            /** Enabled */
            enabled: boolean;
            /**
             * Failures
             * @description In a row; 0 once a delivery has arrived.
             */
            failures: number;
            /** Failing Since */
            failing_since: string | null;
            /**
             * Disabled At
             * @description Since when it is not called any more, after repeated failure.
             */
            disabled_at: string | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Secret
             * @description Signs what is sent; shown this once.
             */
            secret: string;
        };
        /** WebhookIn */
        WebhookIn: {
            /** Url */
            url: string;
            /** Types */
            types: string[];
        };
        /** DeliveryListOut */
        DeliveryListOut: {
            /** Data */
            data: components["schemas"]["DeliveryOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** DeliveryOut */
        DeliveryOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Event Id
             * Format: uuid
             */
            event_id: string;
            /** Type */
            type: string;
            /**
             * State
             * @enum {string}
             */
            state: "delivered" | "pending" | "failed";
            /** Attempts */
            attempts: number;
            /** Status Code */
            status_code: number | null;
            /** Error */
            error: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Delivered At */
            delivered_at: string | null;
            /** Next Attempt At */
            next_attempt_at: string | null;
        };
        /** AnnouncementListOut */
        AnnouncementListOut: {
            /** Data */
            data: components["schemas"]["AnnouncementOut"][];
        };
        /** AnnouncementOut */
        AnnouncementOut: {
            /** Id */
            id: number;
            /** Title */
            title: string;
            /** Text */
            text: string;
            /** Link */
            link: string | null;
            /**
             * Tone
             * @description `info` or `warning`.
             */
            tone: string;
            /** Dismissible */
            dismissible: boolean;
        };
        /**
         * AuditActorOut
         * @description `staff`: the operator's, whose names are not told; `scim`: an identity provider.
         */
        AuditActorOut: {
            /**
             * Kind
             * @enum {string}
             */
            kind: "user" | "api_key" | "staff" | "scim" | "system";
            /** User Id */
            user_id: string | null;
            /** Email */
            email: string | null;
            /** Key Id */
            key_id: string | null;
        };
        /** AuditEventOut */
        AuditEventOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Action */
            action: string;
            actor: components["schemas"]["AuditActorOut"];
            /** Address */
            address: string;
            /** User Agent */
            user_agent: string;
            /** Target Type */
            target_type: string;
            /** Target Id */
            target_id: string;
            /** Project Id */
            project_id: string | null;
            /** Details */
            details: {
                [key: string]: unknown;
            };
            /** Request Id */
            request_id: string;
        };
        /** AuditPageOut */
        AuditPageOut: {
            /** Data */
            data: components["schemas"]["AuditEventOut"][];
            /**
             * Next Cursor
             * @description `after` of the following page; null at the end.
             */
            next_cursor: string | null;
        };
        /** AuditActionsOut */
        AuditActionsOut: {
            /**
             * Data
             * @description Everything that is recorded, to filter by.
             */
            data: string[];
        };
        /**
         * AnswerCache
         * @description Requests that a stored answer answers: none, or identical ones.
         * @enum {string}
         */
        AnswerCache: "off" | "exact";
        /**
         * DataPolicyOut
         * @description Of the organization in which the caller works, and of the caller.
         */
        DataPolicyOut: {
            /**
             * Retention Days
             * @description Null: until it is deleted; 0: nothing is stored after its delivery.
             */
            retention_days: number | null;
            /** Stores Api Calls */
            stores_api_calls: boolean;
            /**
             * Logs Requests
             * @description Requests of API keys are kept, to be searched.
             */
            logs_requests: boolean;
            /** Request Log Days */
            request_log_days: number;
            /** Allows Training */
            allows_training: boolean;
            /** I Allow Training */
            i_allow_training: boolean;
            /**
             * Shares Running
             * @description Identical requests that arrive while one is answered get its answer.
             */
            shares_running: boolean;
            /** @description Which later requests are answered by a stored answer: none (`off`), identical ones (`exact`). */
            answer_cache: components["schemas"]["AnswerCache"];
            /**
             * Answer Cache S
             * @description Seconds that an answer is stored for that.
             */
            answer_cache_s: number;
            /**
             * Reuses Sampled
             * @description Also answers that are sampled: at a temperature, and without a seed.
             */
            reuses_sampled: boolean;
            /**
             * May Change
             * @description The caller may change what is the organization's.
             */
            may_change: boolean;
        };
        /** DataPolicyUpdate */
        DataPolicyUpdate: {
            /** Retention Days */
            retention_days: number | null;
            /** Stores Api Calls */
            stores_api_calls: boolean;
            /** Allows Training */
            allows_training: boolean;
            /**
             * Logs Requests
             * @description Null: as it is.
             */
            logs_requests?: boolean | null;
            /**
             * Request Log Days
             * @description Null: as it is.
             */
            request_log_days?: number | null;
        };
        /** AnswerReuseUpdate */
        AnswerReuseUpdate: {
            /** Shares Running */
            shares_running: boolean;
            /**
             * Answer Cache
             * @enum {string}
             */
            answer_cache: "off" | "exact";
            /**
             * Answer Cache S
             * @default 3600
             */
            answer_cache_s: number;
            /**
             * Reuses Sampled
             * @default false
             */
            reuses_sampled: boolean;
        };
        /** TrainingUpdate */
        TrainingUpdate: {
            /** Allowed */
            allowed: boolean;
        };
        /** ExportListOut */
        ExportListOut: {
            /** Data */
            data: components["schemas"]["ExportOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /** ExportOut */
        ExportOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Scope
             * @description `me` or `organization`.
             */
            scope: string;
            /**
             * State
             * @description `queued`, `running`, `done` or `failed`.
             */
            state: string;
            /** Size */
            size: number;
            /** Sha256 */
            sha256: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Expires At */
            expires_at: string | null;
        };
        /** ExportCreate */
        ExportCreate: {
            /**
             * Scope
             * @default me
             * @enum {string}
             */
            scope: "me" | "organization";
        };
        /** ExportLinkOut */
        ExportLinkOut: {
            /** Url */
            url: string;
            /**
             * Expires In
             * @description Seconds.
             */
            expires_in: number;
        };
        /** ErasureOut */
        ErasureOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** State */
            state: string;
        };
        /** OrganizationErasure */
        OrganizationErasure: {
            /**
             * Name
             * @description The organization's name, typed again.
             */
            name: string;
        };
        /** Me */
        Me: {
            user: components["schemas"]["UserOut"];
            organization: components["schemas"]["OrganizationOut"];
            /** Role */
            role: string;
            /** Organizations */
            organizations: components["schemas"]["MembershipOut"][];
            /**
             * Pending Terms
             * @description What is to be accepted before anything else works.
             */
            pending_terms: components["schemas"]["TermsOut"][];
            /**
             * Second Factor Due
             * @description The organization is closed to them until they have a second factor.
             */
            second_factor_due: boolean;
            /**
             * Support Contact
             * @description Where the operator is reached: a `mailto:` or https URL; empty: not told.
             */
            support_contact: string;
        };
        /** MembershipOut */
        MembershipOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
            /** Plan */
            plan: string;
            /**
             * Suspended
             * @description The reason while it is not served; null else.
             */
            suspended?: string | null;
            /** Role */
            role: string;
        };
        /** OrganizationOut */
        OrganizationOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
            /** Plan */
            plan: string;
            /**
             * Suspended
             * @description The reason while it is not served; null else.
             */
            suspended?: string | null;
        };
        /**
         * TermsOut
         * @description A version of the terms that is to be accepted.
         */
        TermsOut: {
            /** Id */
            id: number;
            /** Name */
            name: string;
            /** Version */
            version: string;
            /** Summary */
            summary: string;
            /** Link */
            link: string;
        };
        /** UserOut */
        UserOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Email */
            email: string;
            /** Name */
            name: string;
            /**
             * Language
             * @description BCP 47, of the page and of mails; empty: the page as the browser says.
             */
            language: string;
        };
        /** MeUpdate */
        MeUpdate: {
            /** Name */
            name?: string | null;
            /**
             * Organization Id
             * @description The organization to work in from now on.
             */
            organization_id?: string | null;
            /**
             * Language
             * @description Of the page and of mails; empty: as the browser says.
             */
            language?: ("en" | "de" | "fr" | "es" | "pt" | "ja" | "zh-CN" | "ar") | "" | null;
        };
        /** TermsAccept */
        TermsAccept: {
            /** Versions */
            versions: number[];
        };
        /** LinkConfirm */
        LinkConfirm: {
            /** Token */
            token: string;
        };
        /**
         * JoinOfferOut
         * @description By the domain of one's address; both null where no organization takes one by it.
         */
        JoinOfferOut: {
            /** Organization */
            organization: string | null;
            /** Join */
            join: ("request" | "automatic") | null;
            /** Asked */
            asked: boolean;
        };
        /** JoinedOut */
        JoinedOut: {
            /**
             * Joined
             * @description False: an owner or admin decides.
             */
            joined: boolean;
        };
        /** PasskeyOut */
        PasskeyOut: {
            /** Id */
            id: number;
            /** Name */
            name: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Last Used At */
            last_used_at: string | null;
        };
        /**
         * SecurityOut
         * @description What keeps the account safe.
         */
        SecurityOut: {
            /** Totp */
            totp: boolean;
            /**
             * Recovery Codes
             * @description How many are left.
             */
            recovery_codes: number;
            /** Passkeys */
            passkeys: components["schemas"]["PasskeyOut"][];
            /**
             * Recent Sign In
             * @description False: what changes the account's security asks for a proof again, by the password and the second factor where there is one.
             */
            recent_sign_in: boolean;
        };
        /** Reauthentication */
        Reauthentication: {
            /** Password */
            password: string;
            /**
             * Code
             * @description Of the authenticator app, or a recovery code; needed where the account has a second factor.
             */
            code?: string | null;
        };
        /**
         * PasskeyOptions
         * @description What `navigator.credentials` takes, as JSON (WebAuthn level 3).
         */
        PasskeyOptions: {
            /** Options */
            options: {
                [key: string]: unknown;
            };
        };
        /**
         * Credential
         * @description What `navigator.credentials` gave, as JSON (WebAuthn level 3, `toJSON()`).
         */
        Credential: {
            /** Credential */
            credential: {
                [key: string]: unknown;
            };
        };
        /** PasswordBody */
        PasswordBody: {
            /** Password */
            password: string;
        };
        /**
         * SentOut
         * @description The same for every address: the rest is in the mail.
         */
        SentOut: {
            /**
             * Status
             * @default mail_sent
             * @constant
             */
            status: "mail_sent";
            /**
             * Local Outbox
             * @description There is no mail server: the operator of the installation reads the mail.
             */
            local_outbox: boolean;
        };
        /** EmailBody */
        EmailBody: {
            /** Email */
            email: string;
        };
        /** TotpOut */
        TotpOut: {
            /** Secret */
            secret: string;
            /** Uri */
            uri: string;
            /** Qr Svg */
            qr_svg: string;
        };
        /** RecoveryCodesOut */
        RecoveryCodesOut: {
            /**
             * Recovery Codes
             * @description Shown this once; empty where there are earlier ones.
             */
            recovery_codes: string[];
        };
        /** CodeBody */
        CodeBody: {
            /** Code */
            code: string;
        };
        /** PasskeyCreate */
        PasskeyCreate: {
            /** Credential */
            credential: {
                [key: string]: unknown;
            };
            /**
             * Name
             * @default
             */
            name: string;
        };
        /** SessionListOut */
        SessionListOut: {
            /** Data */
            data: components["schemas"]["SessionOut"][];
        };
        /** SessionOut */
        SessionOut: {
            /** Id */
            id: number;
            /** Ip */
            ip: string;
            /** User Agent */
            user_agent: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Last Seen At
             * Format: date-time
             */
            last_seen_at: string;
            /** Current */
            current: boolean;
        };
        /** SignupRequest */
        SignupRequest: {
            /** Email */
            email: string;
            /** Password */
            password: string;
            /**
             * Name
             * @default
             */
            name: string;
            /**
             * Invitation
             * @description The token of an invitation's link, which the account joins by.
             */
            invitation?: string | null;
        };
        /** SignupConfirm */
        SignupConfirm: {
            /** Token */
            token: string;
            /**
             * Password
             * @description Needed in another browser than the one that signed up.
             */
            password?: string | null;
        };
        /**
         * OfferOut
         * @description What an invitation's link offers. It does not say to whom it was sent.
         */
        OfferOut: {
            /** Organization */
            organization: string;
            /** Role */
            role: string;
            /**
             * For Address
             * @description It is for the address that it was mailed to alone.
             */
            for_address: boolean;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
        };
        /**
         * SecondFactorNeeded
         * @description The password was right, and is not enough.
         */
        SecondFactorNeeded: {
            /** Second Factor */
            second_factor: ("totp" | "webauthn" | "recovery_codes")[];
        };
        /** LoginRequest */
        LoginRequest: {
            /** Email */
            email: string;
            /** Password */
            password: string;
        };
        /** SignedOut */
        SignedOut: {
            /**
             * Url
             * @description Where the browser signs out at its identity provider too.
             */
            url: string;
        };
        /** PasswordResetConfirm */
        PasswordResetConfirm: {
            /** Password */
            password: string;
            /** Token */
            token: string;
            /**
             * Revoke Keys
             * @description End the account's API keys too, as is done anyway where its address was never confirmed.
             * @default false
             */
            revoke_keys: boolean;
        };
        /** AddressConfirm */
        AddressConfirm: {
            /** Token */
            token: string;
            /**
             * Password
             * @description The account's; needed in another browser than the asking one.
             */
            password?: string | null;
        };
        /** SSOStarted */
        SSOStarted: {
            /**
             * Url
             * @description Where the browser goes.
             */
            url: string;
        };
        /**
         * SSOStart
         * @description By the address of who signs in, or by the provider (a bookmark).
         */
        SSOStart: {
            /**
             * Email
             * @default
             */
            email: string;
            /** Connection Id */
            connection_id?: string | null;
            /**
             * Next
             * @description A path of this site, where the sign-in leads in the end.
             * @default
             */
            next: string;
        };
        /**
         * SSOOut
         * @description `client_secret` is never shown.
         */
        SSOOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Protocol
             * @enum {string}
             */
            protocol: "oidc" | "saml";
            /** Issuer */
            issuer: string;
            /** Default Role */
            default_role: string;
            /** Is Enabled */
            is_enabled: boolean;
            /** Is Forced */
            is_forced: boolean;
            /** Client Id */
            client_id: string;
            /** Sso Url */
            sso_url: string;
            /** Certificates */
            certificates: string;
            /** Groups Claim */
            groups_claim: string;
            /** Email Claim */
            email_claim: string;
            /** Takes Unstated Email */
            takes_unstated_email: boolean;
            /** Returns After Logout */
            returns_after_logout: boolean;
            /** Allows Idp Initiated */
            allows_idp_initiated: boolean;
            /** Slo Url */
            slo_url: string;
            /**
             * Changed At
             * Format: date-time
             */
            changed_at: string;
        };
        /**
         * SSOPageOut
         * @description What the provider's administrator needs from here, and the connection, if there is one.
         */
        SSOPageOut: {
            connection: components["schemas"]["SSOOut"] | null;
            /** Redirect Uri */
            redirect_uri: string;
            /**
             * Logged Out Url
             * @description OIDC: where the provider sends browsers back to.
             */
            logged_out_url: string;
            /** Backchannel Logout Url */
            backchannel_logout_url: string;
            /**
             * Entity Id
             * @description SAML; this installation's metadata is there.
             */
            entity_id: string;
            /** Acs Url */
            acs_url: string;
            /** Logout Url */
            logout_url: string;
            /** Start Url */
            start_url: string;
            /** Verified Domains */
            verified_domains: string[];
        };
        /** SSOUpdate */
        SSOUpdate: {
            /**
             * Protocol
             * @enum {string}
             */
            protocol: "oidc" | "saml";
            /**
             * Issuer
             * @description OIDC: the issuer. SAML: the provider's entity id.
             */
            issuer: string;
            /**
             * Default Role
             * @default member
             * @enum {string}
             */
            default_role: "member" | "finance" | "viewer";
            /**
             * Is Enabled
             * @default true
             */
            is_enabled: boolean;
            /**
             * Is Forced
             * @description Members who are no owners cannot sign in with a password.
             * @default false
             */
            is_forced: boolean;
            /**
             * Client Id
             * @default
             */
            client_id: string;
            /**
             * Client Secret
             * @description Left out: the stored one.
             */
            client_secret?: string | null;
            /**
             * Sso Url
             * @default
             */
            sso_url: string;
            /**
             * Groups Claim
             * @description The claim, or SAML attribute, that names groups.
             * @default groups
             */
            groups_claim: string;
            /**
             * Allows Idp Initiated
             * @description What the provider starts by itself begins a sign-in here.
             * @default false
             */
            allows_idp_initiated: boolean;
            /**
             * Email Claim
             * @description The claim, or SAML attribute, with the address; empty: the usual names.
             * @default
             */
            email_claim: string;
            /**
             * Takes Unstated Email
             * @description OIDC: an address without email_verified counts as verified (Entra).
             * @default false
             */
            takes_unstated_email: boolean;
            /**
             * Returns After Logout
             * @description OIDC: the provider knows logged_out_url as a place to return to.
             * @default false
             */
            returns_after_logout: boolean;
            /**
             * Slo Url
             * @description SAML: single logout at the provider; empty: none.
             * @default
             */
            slo_url: string;
            /**
             * Certificates
             * @description PEM, up to five.
             * @default
             */
            certificates: string;
        };
        /**
         * MetadataOut
         * @description For the form; nothing is saved.
         */
        MetadataOut: {
            /** Issuer */
            issuer: string;
            /** Sso Url */
            sso_url: string;
            /** Slo Url */
            slo_url: string;
            /** Certificates */
            certificates: string;
        };
        /** MetadataBody */
        MetadataBody: {
            /**
             * Metadata
             * @description SAML metadata of the provider: XML, or its https address.
             */
            metadata: string;
        };
        /** SignInPolicyOut */
        SignInPolicyOut: {
            /** Requires Second Factor */
            requires_second_factor: boolean;
            /**
             * Members Without
             * @description Active members who have no second factor now.
             */
            members_without: number;
        };
        /** SignInPolicyUpdate */
        SignInPolicyUpdate: {
            /**
             * Requires Second Factor
             * @description Who signs in with a password needs an authenticator app or a passkey.
             */
            requires_second_factor: boolean;
        };
        /** DirectoryOut */
        DirectoryOut: {
            /** Url */
            url: string;
            /** Has Token */
            has_token: boolean;
            /** Created At */
            created_at: string | null;
            /** Last Used At */
            last_used_at: string | null;
            /** Users */
            users: number;
            /** Groups */
            groups: number;
        };
        /** NewDirectoryTokenOut */
        NewDirectoryTokenOut: {
            /**
             * Token
             * @description Shown this once.
             */
            token: string;
            /** Url */
            url: string;
        };
        /** GroupRuleOut */
        GroupRuleOut: {
            /** Group */
            group: string;
            /** Role */
            role: string | null;
            /** Project Id */
            project_id: string | null;
            /** Project Role */
            project_role: string | null;
        };
        /** GroupRulesOut */
        GroupRulesOut: {
            /** Rules */
            rules: components["schemas"]["GroupRuleOut"][];
            /**
             * Known Groups
             * @description Names that the directory (SCIM) has sent.
             */
            known_groups: string[];
        };
        /**
         * GroupRuleBody
         * @description A group's role in the organization, or its place in one project.
         */
        GroupRuleBody: {
            /** Group */
            group: string;
            /** Role */
            role?: ("owner" | "admin" | "member" | "finance" | "viewer") | null;
            /** Project Id */
            project_id?: string | null;
            /** Project Role */
            project_role?: ("owner" | "member") | null;
        };
        /** GroupRulesUpdate */
        GroupRulesUpdate: {
            /** Rules */
            rules: components["schemas"]["GroupRuleBody"][];
        };
        /** NetworkOut */
        NetworkOut: {
            /** Cidr */
            cidr: string;
            /** Note */
            note: string;
            /** For Directory */
            for_directory: boolean;
        };
        /** NetworksOut */
        NetworksOut: {
            /** Networks */
            networks: components["schemas"]["NetworkOut"][];
            /** Your Address */
            your_address: string;
        };
        /** NetworkBody */
        NetworkBody: {
            /** Cidr */
            cidr: string;
            /**
             * Note
             * @default
             */
            note: string;
            /**
             * For Directory
             * @description Lets only the directory's calls (SCIM) in, and no people.
             * @default false
             */
            for_directory: boolean;
        };
        /** NetworksUpdate */
        NetworksUpdate: {
            /**
             * Networks
             * @description Empty: from anywhere.
             */
            networks: components["schemas"]["NetworkBody"][];
            /**
             * Confirm Lockout
             * @description Yes to a list without the address that this request comes from.
             * @default false
             */
            confirm_lockout: boolean;
        };
        /**
         * ToolConnectionOut
         * @description How somebody stands with a server that is signed in at.
         */
        ToolConnectionOut: {
            /**
             * State
             * @enum {string}
             */
            state: "not_connected" | "connected" | "expired" | "refused";
            /**
             * Account
             * @description As the server names it; else who of here signed in.
             */
            account: string;
            /**
             * Error
             * @description Why it is expired or refused.
             */
            error: string;
            /** Connected At */
            connected_at: string | null;
        };
        /** ToolOut */
        ToolOut: {
            /** Name */
            name: string;
            /** Title */
            title: string;
            /** Description */
            description: string;
            /** Allowed */
            allowed: boolean;
            /** Needs Approval */
            needs_approval: boolean;
            /**
             * Claims Read Only
             * @description What the server says of it; nothing rests on it.
             */
            claims_read_only: boolean;
            /** Claims Destructive */
            claims_destructive: boolean;
            /**
             * Fingerprint
             * @description Of this definition.
             */
            fingerprint: string;
            /**
             * Held For
             * @description Why no model is given it before somebody has looked at it and allows it by its fingerprint: it reads like orders to a model; it is not what was allowed.
             */
            held_for: ("orders" | "changed")[];
            /**
             * Orders
             * @description What of it reads like orders.
             */
            orders: string;
            /**
             * Allowed Text
             * @description What it said of itself when it was last allowed.
             */
            allowed_text: string;
            /**
             * Parameters
             * @description Of one that is held, its schema as JSON.
             */
            parameters: string;
        };
        /** ToolServerListOut */
        ToolServerListOut: {
            /** Data */
            data: components["schemas"]["ToolServerOut"][];
        };
        /** ToolServerOut */
        ToolServerOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "mcp" | "searxng" | "brave" | "tavily" | "python";
            /** Name */
            name: string;
            /** Url */
            url: string;
            /** Has Token */
            has_token: boolean;
            /**
             * Auth
             * @enum {string}
             */
            auth: "token" | "oauth_person" | "oauth_organization";
            /** @description Yours, or the organization's; null where nobody signs in. */
            connection: components["schemas"]["ToolConnectionOut"] | null;
            /** Enabled */
            enabled: boolean;
            /** Checked At */
            checked_at: string | null;
            /**
             * Error
             * @description Why its tools could not be read; empty where they could.
             */
            error: string;
            /**
             * Error Code
             * @description `tool_failed`, `tool_timeout`, `tool_sign_in_needed` or `tool_sign_in_failed`; empty without an error, and of errors before this field was there.
             */
            error_code: string;
            /** Tools */
            tools: components["schemas"]["ToolOut"][];
        };
        /** GivenClientBody */
        GivenClientBody: {
            /** Client Id */
            client_id: string;
            /**
             * Client Secret
             * @default
             */
            client_secret: string;
        };
        /** ToolServerCreate */
        ToolServerCreate: {
            /** Name */
            name: string;
            /** Url */
            url: string;
            /**
             * Token
             * @description Sent as `Authorization: Bearer`; empty: none.
             * @default
             */
            token: string;
            /**
             * Auth
             * @description `token`: as above. `oauth_person`: each person signs in at the server; `oauth_organization`: an owner or admin does, for all.
             * @default token
             * @enum {string}
             */
            auth: "token" | "oauth_person" | "oauth_organization";
            /** @description Ours at the authorization server, where it registers none by itself. */
            client?: components["schemas"]["GivenClientBody"] | null;
        };
        /**
         * WebSearchCreate
         * @description Where chats search the web. One for an organization.
         */
        WebSearchCreate: {
            /**
             * Provider
             * @enum {string}
             */
            provider: "searxng" | "brave" | "tavily";
            /**
             * Url
             * @description Of SearXNG; the others' own where it is empty.
             * @default
             */
            url: string;
            /**
             * Token
             * @description The provider's key.
             * @default
             */
            token: string;
        };
        /** ToolRuleBody */
        ToolRuleBody: {
            /** Name */
            name: string;
            /** Allowed */
            allowed: boolean;
            /** Needs Approval */
            needs_approval: boolean;
            /**
             * Fingerprint
             * @description Of the definition that you looked at. A tool that is held is allowed by it only; 409 where it is another by now.
             * @default
             */
            fingerprint: string;
        };
        /**
         * ToolServerUpdate
         * @description Absent fields stay as they are.
         */
        ToolServerUpdate: {
            /** Name */
            name?: string | null;
            /**
             * Url
             * @description Another one: it is switched off until `check` has reached it, its tools are allowed anew, and its token and sign-ins go.
             */
            url?: string | null;
            /** Token */
            token?: string | null;
            /** Enabled */
            enabled?: boolean | null;
            /** @description Whoever was connected has to sign in again. */
            client?: components["schemas"]["GivenClientBody"] | null;
            /**
             * Tools
             * @default []
             */
            tools: components["schemas"]["ToolRuleBody"][];
        };
        /** MyToolsOut */
        MyToolsOut: {
            /** Servers */
            servers: components["schemas"]["UsableServerOut"][];
            /**
             * Web Search
             * @description Whether a chat can be let search the web.
             */
            web_search: boolean;
            /**
             * Always
             * @description What is called without asking, in every chat.
             */
            always: components["schemas"]["ToolGrantOut"][];
        };
        /** ToolGrantOut */
        ToolGrantOut: {
            /** Id */
            id: number;
            /**
             * Kind
             * @enum {string}
             */
            kind: "mcp" | "searxng" | "brave" | "tavily" | "python";
            /** Server */
            server: string;
            /** Name */
            name: string;
            /** Title */
            title: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /** UsableServerOut */
        UsableServerOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "mcp" | "python";
            /** Name */
            name: string;
            /** On */
            on: boolean;
            /** Tools */
            tools: string[];
            /**
             * Auth
             * @enum {string}
             */
            auth: "token" | "oauth_person" | "oauth_organization";
            /** @description Yours, or the organization's; null where nobody signs in. */
            connection: components["schemas"]["ToolConnectionOut"] | null;
        };
        /** ToolSwitch */
        ToolSwitch: {
            /** On */
            on: boolean;
        };
        /** ToolCallListOut */
        ToolCallListOut: {
            /** Data */
            data: components["schemas"]["ToolCallOut"][];
        };
        /** ToolCallOut */
        ToolCallOut: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Message Id
             * Format: uuid
             */
            message_id: string;
            /**
             * Call Id
             * @description Of the part of the message.
             */
            call_id: string;
            /** Server */
            server: string;
            /** Tool */
            tool: string;
            /**
             * Web
             * @description Which of the organization's web tools it is; null for an MCP server's.
             */
            web: ("search" | "fetch") | null;
            /**
             * Of Page
             * @description A page of its person runs it, as a program.
             */
            of_page: boolean;
            /**
             * Status
             * @enum {string}
             */
            status: "waiting" | "due" | "running" | "done" | "failed" | "denied" | "cancelled";
            /** Arguments */
            arguments: string;
            /** Result */
            result: string;
            /**
             * Withheld
             * @description Whether the model is not given the result, because it reads like orders.
             */
            withheld: boolean;
            /**
             * Withheld In Part
             * @description It is given the rest of the result.
             */
            withheld_in_part: boolean;
            /**
             * Sources
             * @description The pages of the web that it is from.
             */
            sources: components["schemas"]["WebSourceOut"][];
            /** Decision */
            decision: string;
            /** May Always */
            may_always: boolean;
            /**
             * Is Current
             * @description Whether it is of the answer that the chat ends with.
             */
            is_current: boolean;
            /**
             * Goes On
             * @description Whether calls are being made: a stop would end them.
             */
            goes_on: boolean;
        };
        /** WebSourceOut */
        WebSourceOut: {
            /** Title */
            title: string;
            /**
             * Url
             * @description https.
             */
            url: string;
        };
        /** ToolDecision */
        ToolDecision: {
            /**
             * Decision
             * @enum {string}
             */
            decision: "once" | "chat" | "always" | "deny";
        };
        /**
         * ProgramRunOut
         * @description A page's own claim to a program.
         */
        ProgramRunOut: {
            /**
             * Run Id
             * Format: uuid
             */
            run_id: string;
            /** Code */
            code: string;
            /**
             * Limit S
             * @description It is ended after that.
             */
            limit_s: number;
        };
        /** ProgramRunBody */
        ProgramRunBody: {
            /**
             * Run Id
             * Format: uuid
             */
            run_id: string;
        };
        /**
         * ProgramResult
         * @description What came of a program: what it printed, its traceback too, and the names of the files that
         *     it wrote.
         */
        ProgramResult: {
            /**
             * Run Id
             * Format: uuid
             */
            run_id: string;
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "ended" | "raised" | "stopped" | "timeout" | "failed";
            /**
             * Output
             * @default
             */
            output: string;
            /**
             * Files
             * @default []
             */
            files: string[];
        };
        /** ToolSignInBegun */
        ToolSignInBegun: {
            /**
             * Url
             * @description Of the authorization server: the browser goes there.
             */
            url: string;
        };
        /** ToolSignInBegin */
        ToolSignInBegin: {
            /**
             * Page
             * @description Where the browser comes back to.
             * @default settings
             * @enum {string}
             */
            page: "settings" | "organization";
        };
    };
    responses: {
        /** @description An error, in OpenAI's shape. */
        Error: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: {
                        message: string;
                        type: string;
                        code: string | null;
                        param: string | null;
                    };
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    create_product_chat_completion: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatCompletionRequest"];
            };
        };
        responses: {
            /** @description The answer, or its stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        object: string;
                        created: number;
                        model: string;
                        choices: Record<string, never>[];
                        usage: {
                            prompt_tokens?: number;
                            completion_tokens?: number;
                            total_tokens?: number;
                        };
                    };
                    "text/event-stream": string;
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    transcribe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /**
                     * File
                     * Format: binary
                     */
                    file: string;
                    /** Model */
                    model: string;
                    /**
                     * Prompt
                     * @default
                     */
                    prompt?: string;
                    /**
                     * Response Format
                     * @default json
                     * @enum {string}
                     */
                    response_format?: "json" | "text" | "srt" | "verbose_json" | "vtt";
                    /**
                     * Temperature
                     * @default 0
                     */
                    temperature?: number;
                    /**
                     * Language
                     * @default
                     */
                    language?: string;
                    /**
                     * Stream
                     * @default false
                     */
                    stream?: boolean;
                    /** Timestamp Granularities[] */
                    "timestamp_granularities[]"?: ("word" | "segment")[];
                };
            };
        };
        responses: {
            /** @description What is said, in the form that was asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                    "text/plain": string;
                    "text/event-stream": string;
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
            /** @description An error, in OpenAI's shape. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            message: string;
                            type: string;
                            code: string | null;
                            param: string | null;
                        };
                    };
                };
            };
        };
    };
    speak: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SpeechCreate"];
            };
        };
        responses: {
            /** @description The sound, as it is made; or events with its parts in base64. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "text/event-stream": string;
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
            /** @description An error, in OpenAI's shape. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            message: string;
                            type: string;
                            code: string | null;
                            param: string | null;
                        };
                    };
                };
            };
        };
    };
    list_product_models: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    follow_generation: {
        parameters: {
            query?: {
                after?: string | null;
            };
            header?: never;
            path: {
                generation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    cancel_generation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                generation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    queue_place_of_generation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                generation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueuePlaceOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_conversations: {
        parameters: {
            query?: {
                search?: string;
                tag?: string;
                project_id?: string | null;
                archived?: boolean;
                deleted?: boolean;
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SummaryOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    search_conversations: {
        parameters: {
            query: {
                query: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_tags: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TagListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    change_conversations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    erase_trash: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrashErase"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrashErasedOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_conversation: {
        parameters: {
            query?: {
                limit?: number;
                before?: string | null;
            };
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    delete_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    update_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SummaryOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_context: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContextOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    summarise_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContextOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    undo_summary: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContextOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    restore_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SummaryOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    export_all: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    export_one: {
        parameters: {
            query?: {
                format?: "json" | "markdown";
            };
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    import_some: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImportBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    ask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TurnCreate"];
            };
        };
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    regenerate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TurnRegenerate"] | null;
            };
        };
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    continue_answer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_sent_prompt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentPromptOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_sources: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourcesOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_withheld: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WithheldOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_chat_defaults: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatDefaultsOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    set_chat_defaults: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatDefaultsBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatDefaultsOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    give_feedback: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                message_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FeedbackIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedbackOut"] | null;
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_memories: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_memory: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemoryCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    forget_memories: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForgottenOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    set_memory: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemorySwitch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    set_memory_policy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemoryPolicyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    forget_memory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    update_memory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemoryTextBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    save_proposal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                message_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemoryTextBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    dismiss_proposal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_shares: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShareListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_share: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ShareCreate"] | null;
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewShareOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_all_shares: {
        parameters: {
            query?: {
                scope?: "mine" | "organization";
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharePageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_sharing: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharingOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    set_sharing: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SharingUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharingOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    revoke_share: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                share_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    read_shared: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    copy_shared: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SummaryOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    upload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /**
                     * File
                     * Format: binary
                     */
                    file: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AttachmentOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    download: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                attachment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file's content. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_assistants: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssistantPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_assistant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssistantCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssistantOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_assistant_tools: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsableToolsOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_assistant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                assistant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssistantOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    delete_assistant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                assistant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    update_assistant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                assistant_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssistantUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssistantOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    duplicate_assistant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                assistant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssistantOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_assistant_files: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                assistant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedFileListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    add_assistant_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                assistant_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SharedFileAdd"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedFileOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    remove_assistant_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                assistant_id: string;
                attachment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_appeals: {
        parameters: {
            query?: {
                generation_id?: string | null;
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppealListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_appeal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AppealIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppealOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_keys: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_key: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewKeyOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_key: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    revoke_key: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_key_limits: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyLimitsOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_key_outcomes: {
        parameters: {
            query?: {
                days?: number;
            };
            header?: never;
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyOutcomesOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    delete_key_request_logs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_request_logs: {
        parameters: {
            query?: {
                key_id?: string | null;
                outcome?: ("succeeded" | "failed") | null;
                model?: string | null;
                text?: string | null;
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestLogPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_request_log: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                log_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestLogViewOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_organization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationDetailOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    update_organization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrganizationUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationDetailOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    transfer_ownership: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OwnershipTransfer"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_members: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    update_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    remove_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberRemove"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_invitations: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_invitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewInvitationOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    revoke_invitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                invitation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_domains: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    add_domain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DomainAdd"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    delete_domain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                domain_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    update_domain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                domain_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DomainUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    verify_domain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                domain_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_join_requests: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JoinRequestPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    accept_join_request: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                join_request_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    decline_join_request: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                join_request_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_projects: {
        parameters: {
            query?: {
                archived?: boolean;
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_project: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_project: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectViewOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    update_project: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    archive_project: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_project_members: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectMemberPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    add_project_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectMemberAdd"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectMemberOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    remove_project_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    update_project_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectMemberUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectMemberOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_service_accounts: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceAccountPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_service_account: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ServiceAccountCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewServiceAccountOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    delete_service_account: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                service_account_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_project_limits: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectLimitListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    set_project_limit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                model_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectLimitSet"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectLimitOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    delete_project_limit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_project_keys: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectKeyPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_project_files: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedFileListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    add_project_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SharedFileAdd"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedFileOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    remove_project_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                attachment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    usage: {
        parameters: {
            query?: {
                period?: string;
                group_by?: ("day" | "model" | "key" | "user" | "project") | null;
                project_id?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_invoices: {
        parameters: {
            query?: {
                limit?: number;
                /** @description `next_cursor` of the page before. */
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoiceListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_invoice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                invoice_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoiceDetailOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    download_invoice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                invoice_id: number;
                kind: "pdf" | "csv";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_billing: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    choose_plan: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    set_billing_details: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DetailsIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    add_payment_method: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    remove_payment_method: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_top_ups: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopUpListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    top_up: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TopUpIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewTopUpOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    take_stripe_event: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_budgets: {
        parameters: {
            query?: {
                limit?: number;
                /** @description `next_cursor` of the page before. */
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    set_budget: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BudgetIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    delete_budget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                budget_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_credit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_webhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_webhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewWebhookOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    delete_webhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    enable_webhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_deliveries: {
        parameters: {
            query?: {
                limit?: number;
                /** @description `next_cursor` of the page before. */
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    replay_delivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_announcements: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnnouncementListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    dismiss_announcement: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                announcement_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_events: {
        parameters: {
            query?: {
                after?: string | null;
                limit?: number;
                action?: string[];
                actor_id?: string[];
                target_id?: string[];
                address?: string;
                since?: string | null;
                until?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_actions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditActionsOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    export_events: {
        parameters: {
            query?: {
                action?: string[];
                actor_id?: string[];
                target_id?: string[];
                address?: string;
                since?: string | null;
                until?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_data_policy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DataPolicyOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    put_data_policy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DataPolicyUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DataPolicyOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    put_answer_reuse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnswerReuseUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DataPolicyOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    put_training: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrainingUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DataPolicyOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_exports: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_export: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExportCreate"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_export_link: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                export_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportLinkOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    download_export: {
        parameters: {
            query: {
                token: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The zip. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    erase_organization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrganizationErasure"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasureOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    delete_account: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    update_me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MeUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    accept_terms: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TermsAccept"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    accept_invitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LinkConfirm"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_join_offer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JoinOfferOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    take_join_offer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JoinedOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    security: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecurityOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    reauthenticate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reauthentication"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    begin_passkey_proof: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyOptions"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    reauthenticate_by_passkey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Credential"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    change_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordBody"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    change_email: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailBody"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    activate_totp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCodesOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    begin_totp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TotpOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    remove_totp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    renew_recovery_codes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCodesOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    begin_passkey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyOptions"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    add_passkey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCodesOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    remove_passkey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                passkey_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_sessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    end_sessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    end_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    signup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignupRequest"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    confirm_signup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignupConfirm"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    read_invitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LinkConfirm"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OfferOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorNeeded"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    second_factor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    passkey_options: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyOptions"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    passkey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Credential"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedOut"];
                };
            };
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    password_reset: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailBody"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    confirm_password_reset: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordResetConfirm"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    confirm_address: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddressConfirm"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    stop_address_change: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LinkConfirm"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    start_sso: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SSOStart"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SSOStarted"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    oidc_callback: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Found */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    saml_finish: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Found */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    start_by_provider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Found */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    saml_logout: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Found */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    saml_logout_posted: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Found */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    saml_acs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": {
                    /** Samlresponse */
                    SAMLResponse: string;
                };
            };
        };
        responses: {
            /** @description Found */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    saml_metadata: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    oidc_backchannel_logout: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": {
                    /** Logout Token */
                    logout_token: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_sso: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SSOPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    set_sso: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SSOUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SSOPageOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    delete_sso: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    read_metadata: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MetadataBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MetadataOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    forget_identities: {
        parameters: {
            query?: {
                user_id?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_sign_in_policy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInPolicyOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    set_sign_in_policy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInPolicyUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInPolicyOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_directory: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DirectoryOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_directory_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewDirectoryTokenOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    delete_directory_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_group_rules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupRulesOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    set_group_rules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GroupRulesUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupRulesOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_networks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworksOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    set_networks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NetworksUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworksOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_tool_servers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolServerListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_tool_server: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolServerCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolServerOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    create_web_search: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebSearchCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolServerOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    delete_tool_server: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool_server_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    update_tool_server: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool_server_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolServerUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolServerOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    check_tool_server: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool_server_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolServerOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    get_my_tools: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MyToolsOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    switch_tools: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool_server_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolSwitch"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    revoke_tool_grant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool_grant_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    list_tool_calls: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolCallListOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    stop_tool_calls: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    decide_tool_call: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool_call_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolDecision"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolCallOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    renew_program: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool_call_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProgramRunBody"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    claim_program: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool_call_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProgramRunOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    release_program: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool_call_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProgramRunBody"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    finish_program: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool_call_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProgramResult"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolCallOut"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    begin_tool_sign_in: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool_server_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolSignInBegin"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolSignInBegun"];
                };
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    disconnect_tool_server: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool_server_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
    finish_tool_sign_in: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool_server_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Found */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["Error"];
        };
    };
}
