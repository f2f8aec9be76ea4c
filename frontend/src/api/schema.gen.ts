// Generated from /openapi.json by `npm run schema`; not edited by hand.

export interface paths {
    "/v1/chat/completions": {
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
        post: operations["create_chat_completion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Completion
         * @description OpenAI's text completion. With `stream` true: server-sent events, `[DONE]` last.
         */
        post: operations["create_completion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Embeddings
         * @description OpenAI's embeddings. Input tokens are metered; what is embedded is not stored.
         */
        post: operations["create_embeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Models
         * @description Every model that the organization may use, and every other name of it.
         */
        get: operations["list_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{model_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve Model
         * @description One model, by its id or another of its names.
         */
        get: operations["retrieve_model"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Moderation
         * @description One result for each text, or one for a text with images. Free of charge, and nothing is
         *     stored. Limited by user and by address.
         */
        post: operations["create_moderation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Response
         * @description OpenAI's response. With `stream` true: its events, `response.completed` last.
         */
        post: operations["create_response"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{response_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Response
         * @description The response as it stands, or its events, from the first or after a number.
         */
        get: operations["get_response"];
        put?: never;
        post?: never;
        /**
         * Delete Response
         * @description Its content is gone at once.
         */
        delete: operations["delete_response"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{response_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Response
         * @description Stop one that runs in the background. Stopping twice is fine.
         */
        post: operations["cancel_response"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{response_id}/input_items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Response Input Items
         * @description Its own input items, the last first unless `order` is `asc`.
         */
        get: operations["list_response_input_items"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Openai Conversation
         * @description A conversation, with its first items. The page shows it too.
         */
        post: operations["create_openai_conversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations/{openai_conversation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Openai Conversation
         * @description One conversation; those that were begun on the page too.
         */
        get: operations["get_openai_conversation"];
        put?: never;
        /**
         * Update Openai Conversation
         * @description Replace its metadata.
         */
        post: operations["update_openai_conversation"];
        /**
         * Delete Openai Conversation
         * @description Deleted for the user at once, and for good after 30 days.
         */
        delete: operations["delete_openai_conversation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations/{openai_conversation_id}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Openai Conversation Items
         * @description The items of its active branch, the newest 1,000 messages of it.
         */
        get: operations["list_openai_conversation_items"];
        put?: never;
        /**
         * Create Openai Conversation Items
         * @description Add items at its end; 409 while an answer is being added.
         */
        post: operations["create_openai_conversation_items"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations/{openai_conversation_id}/items/{item_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Openai Conversation Item
         * @description One item.
         */
        get: operations["get_openai_conversation_item"];
        put?: never;
        post?: never;
        /**
         * Delete Openai Conversation Item
         * @description Take one item away; the conversation without it.
         */
        delete: operations["delete_openai_conversation_item"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
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
         * @description Stop it. What was delivered stays, and is billed. Stopping twice is fine.
         */
        post: operations["cancel_generation"];
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
         * @description Pinned ones first, then by the last turn. `search` looks into titles and messages.
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
         * @description Deleted for the user at once, and for good after 30 days.
         */
        delete: operations["delete_conversation"];
        options?: never;
        head?: never;
        /**
         * Update Conversation
         * @description Rename, pin, archive, choose the model or switch to another branch.
         */
        patch: operations["update_conversation"];
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
         * @description Another answer to the same prompt, as a sibling of this one.
         */
        post: operations["regenerate"];
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
         * @description An image (re-encoded, so that no metadata survives) or UTF-8 text.
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
         * @description The caller's own file. Text is offered for saving: a browser must not render it.
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
    "/api/appeals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What became of the caller's appeals
         * @description The newest hundred, or the one about a generation; empty where there is none.
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
         * @description Owners and admins see all of the organization's keys, others their own.
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
        get?: never;
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
         *     Owners, admins and finance members see all members' usage, a plain member only their own.
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
         * @description The last hundred deliveries, newest first.
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
    "/v1/organization/usage/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Usage Of Completions
         * @description Tokens and requests in buckets of time.
         *
         *     `group_by`: project_id, user_id, api_key_id, model.
         */
        get: operations["usage_of_completions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organization/costs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Costs
         * @description Costs by day, in the organization's currency. `group_by`: project_id, line_item (the model).
         *
         *     `amount.value` is a JSON number, as OpenAI's clients expect; the exact decimal is in
         *     `/api/usage` and on the invoice.
         */
        get: operations["costs"];
        put?: never;
        post?: never;
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
    "/v1/organization/audit_logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Audit Logs
         * @description OpenAI's shape. Filters: `effective_at[gt|gte|lt|lte]` (Unix seconds), `event_types[]`,
         *     `actor_ids[]`, `actor_emails[]`, `project_ids[]`, `resource_ids[]`.
         */
        get: operations["list_audit_logs"];
        put?: never;
        post?: never;
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
         * @description Delete the account, its chats and keys. Chats are erased for good after 30 days.
         */
        delete: operations["delete_account"];
        options?: never;
        head?: never;
        /**
         * Update Me
         * @description Change one's name, or the organization to work in.
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
         * @description The password again, before something of the account's security changes.
         */
        post: operations["reauthenticate"];
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
         * @description Ask for another address: a link goes there, and the old one is notified when it is used.
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
         * @description Where one is signed in, the last used first; the newest hundred.
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
         * @description Sign out here; other tabs of this session leave.
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
         * @description Do what the link in a mail to a new or unverified address says. It signs no user in.
         */
        post: operations["confirm_address"];
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
        /** CompletionRequest */
        CompletionRequest: {
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
            /** Prompt */
            prompt: string | number[] | string[] | number[][];
            /**
             * Max Tokens
             * @default 16
             */
            max_tokens: number | null;
            /** Logprobs */
            logprobs?: number | null;
            /** Best Of */
            best_of?: number | null;
        };
        /** EmbeddingsRequest */
        EmbeddingsRequest: {
            /** Input */
            input: string | string[] | number[] | number[][];
            /** Model */
            model: string;
            /**
             * Encoding Format
             * @default float
             * @enum {string}
             */
            encoding_format: "float" | "base64";
            /** Dimensions */
            dimensions?: number | null;
            /** User */
            user?: string | null;
        };
        /** ModerationImage */
        ModerationImage: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "image_url";
            image_url: components["schemas"]["ImageURL"];
        };
        /** ModerationRequest */
        ModerationRequest: {
            /** Input */
            input: string | string[] | (components["schemas"]["ModerationText"] | components["schemas"]["ModerationImage"])[];
            /**
             * Model
             * @description Any name; there is one classifier, and the answer names it.
             */
            model?: string | null;
        };
        /** ModerationText */
        ModerationText: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text";
            /** Text */
            text: string;
        };
        /** ConversationReference */
        ConversationReference: {
            /** Id */
            id: string;
        };
        /** FunctionCallItem */
        FunctionCallItem: {
            /**
             * Type
             * @constant
             */
            type: "function_call";
            /** Call Id */
            call_id: string;
            /** Name */
            name: string;
            /** Arguments */
            arguments: string;
            /** Id */
            id?: string | null;
            /** Status */
            status?: ("in_progress" | "completed" | "incomplete") | null;
        };
        /** FunctionOutputItem */
        FunctionOutputItem: {
            /**
             * Type
             * @constant
             */
            type: "function_call_output";
            /** Call Id */
            call_id: string;
            /** Output */
            output: string | components["schemas"]["InputText"][];
            /** Id */
            id?: string | null;
            /** Status */
            status?: ("in_progress" | "completed" | "incomplete") | null;
        };
        /** FunctionReference */
        FunctionReference: {
            /**
             * Type
             * @constant
             */
            type: "function";
            /** Name */
            name: string;
        };
        /** InputImage */
        InputImage: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "input_image";
            /** Image Url */
            image_url: string;
            /**
             * Detail
             * @default auto
             * @enum {string}
             */
            detail: "auto" | "low" | "high";
        };
        /** InputText */
        InputText: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "input_text";
            /** Text */
            text: string;
        };
        /** JsonSchemaFormat */
        JsonSchemaFormat: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "json_schema";
            /** Name */
            name: string;
            /** Schema */
            schema: {
                [key: string]: unknown;
            };
            /** Description */
            description?: string | null;
            /** Strict */
            strict?: boolean | null;
        };
        /** MessageItem */
        MessageItem: {
            /**
             * Type
             * @default message
             * @constant
             */
            type: "message";
            /**
             * Role
             * @enum {string}
             */
            role: "user" | "assistant" | "system" | "developer";
            /** Content */
            content: string | (components["schemas"]["InputText"] | components["schemas"]["InputImage"] | components["schemas"]["OutputText"])[];
            /** Id */
            id?: string | null;
            /** Status */
            status?: ("in_progress" | "completed" | "incomplete") | null;
        };
        /**
         * OutputText
         * @description Text of an earlier answer, sent back.
         */
        OutputText: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "output_text";
            /** Text */
            text: string;
            /**
             * Annotations
             * @default []
             */
            annotations: {
                [key: string]: unknown;
            }[];
            /** Logprobs */
            logprobs?: {
                [key: string]: unknown;
            }[] | null;
        };
        /** PlainFormat */
        PlainFormat: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "json_object" | "text";
        };
        /** ResponseCreate */
        ResponseCreate: {
            /** Model */
            model: string;
            /** Input */
            input: string | (components["schemas"]["FunctionCallItem"] | components["schemas"]["FunctionOutputItem"] | components["schemas"]["MessageItem"])[];
            /** Instructions */
            instructions?: string | null;
            /** Previous Response Id */
            previous_response_id?: string | null;
            /**
             * Conversation
             * @description Its items are read first; input and output are added to it.
             */
            conversation?: string | components["schemas"]["ConversationReference"] | null;
            /**
             * Store
             * @description For 30 days, unless false.
             */
            store?: boolean | null;
            /** Background */
            background?: boolean | null;
            /** Stream */
            stream?: boolean | null;
            stream_options?: components["schemas"]["StreamOptions"] | null;
            /** Max Output Tokens */
            max_output_tokens?: number | null;
            /**
             * Max Tool Calls
             * @description Of tools run by the server: there are none.
             */
            max_tool_calls?: number | null;
            /** Temperature */
            temperature?: number | null;
            /** Top P */
            top_p?: number | null;
            /** Top Logprobs */
            top_logprobs?: number | null;
            text?: components["schemas"]["TextConfig"] | null;
            /** Tools */
            tools?: components["schemas"]["ResponseTool"][] | null;
            /** Tool Choice */
            tool_choice?: ("auto" | "none" | "required") | components["schemas"]["FunctionReference"] | components["schemas"]["AllowedTools"] | null;
            /** Parallel Tool Calls */
            parallel_tool_calls?: boolean | null;
            /** Truncation */
            truncation?: ("auto" | "disabled") | null;
            /** Include */
            include?: ("message.output_text.logprobs" | "reasoning.encrypted_content")[] | null;
            /** Metadata */
            metadata?: {
                [key: string]: string;
            } | null;
            /** User */
            user?: string | null;
            /** Safety Identifier */
            safety_identifier?: string | null;
            /** Prompt Cache Key */
            prompt_cache_key?: string | null;
        };
        /** ResponseTool */
        ResponseTool: {
            /**
             * Type
             * @constant
             */
            type: "function";
            /** Name */
            name: string;
            /** Description */
            description?: string | null;
            /** Parameters */
            parameters?: {
                [key: string]: unknown;
            } | null;
            /** Strict */
            strict?: boolean | null;
        };
        /** TextConfig */
        TextConfig: {
            /** Format */
            format?: (components["schemas"]["JsonSchemaFormat"] | components["schemas"]["PlainFormat"]) | null;
            /** Verbosity */
            verbosity?: "medium" | null;
        };
        /** ConversationNew */
        ConversationNew: {
            /** Items */
            items?: (components["schemas"]["FunctionCallItem"] | components["schemas"]["FunctionOutputItem"] | components["schemas"]["MessageItem"])[] | null;
            /** Metadata */
            metadata?: {
                [key: string]: string;
            } | null;
        };
        /** ConversationChange */
        ConversationChange: {
            /** Metadata */
            metadata: {
                [key: string]: string;
            } | null;
        };
        /** ItemsNew */
        ItemsNew: {
            /** Items */
            items: (components["schemas"]["FunctionCallItem"] | components["schemas"]["FunctionOutputItem"] | components["schemas"]["MessageItem"])[];
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
             * @enum {string}
             */
            status: "ready" | "unavailable";
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
         * @description US dollars per 1,000 tokens.
         */
        PricesOut: {
            /** Input */
            input: string;
            /** Cached Input */
            cached_input: string;
            /** Output */
            output: string;
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
            /** Total Tokens */
            total_tokens: number;
            generation: components["schemas"]["GenerationRefOut"] | null;
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
        };
        /** TurnRegenerate */
        TurnRegenerate: {
            /** Model */
            model?: string | null;
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
        /** ShareListOut */
        ShareListOut: {
            /** Data */
            data: components["schemas"]["ShareOut"][];
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
        };
        /** KeyListOut */
        KeyListOut: {
            /** Data */
            data: components["schemas"]["KeyOut"][];
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
        };
        /**
         * Scope
         * @description INFERENCE: the models, `/v1`. AUDIT: the audit log. The others: the same-named parts of
         *     `/api`.
         * @enum {string}
         */
        Scope: "inference" | "conversations" | "usage" | "keys" | "audit";
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
            /** Requests */
            requests: number;
            /** Input Tokens */
            input_tokens: number;
            /** Cached Input Tokens */
            cached_input_tokens: number;
            /** Output Tokens */
            output_tokens: number;
            /**
             * Amount
             * @description Exact; only the invoice's totals are rounded.
             */
            amount: string;
        };
        /** BudgetListOut */
        BudgetListOut: {
            /** Data */
            data: components["schemas"]["BudgetOut"][];
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
        /**
         * Filters
         * @description Only usage of these; an empty list is no restriction.
         */
        Filters: {
            /** Group By */
            group_by?: string[];
            /** Project Ids */
            project_ids?: string[];
            /** User Ids */
            user_ids?: string[];
            /** Api Key Ids */
            api_key_ids?: string[];
            /** Models */
            models?: string[];
        };
        /**
         * PageOut
         * @description A page of buckets.
         */
        PageOut: {
            /**
             * Object
             * @default page
             * @constant
             */
            object: "page";
            /** Data */
            data: {
                [key: string]: unknown;
            }[];
            /** Has More */
            has_more: boolean;
            /** Next Page */
            next_page: string | null;
        };
        /** Groups */
        Groups: {
            /** Group By */
            group_by?: string[];
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
         * AuditFilters
         * @description What is left out restricts nothing.
         */
        AuditFilters: {
            /** Action */
            action?: string[];
            /** Actor Id */
            actor_id?: string[];
            /** Target Id */
            target_id?: string[];
            /**
             * Address
             * @default
             */
            address: string;
            /** Since */
            since?: string | null;
            /** Until */
            until?: string | null;
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
         * OpenAIAuditLogsOut
         * @description OpenAI's list object.
         */
        OpenAIAuditLogsOut: {
            /**
             * Object
             * @default list
             * @constant
             */
            object: "list";
            /** Data */
            data: {
                [key: string]: unknown;
            }[];
            /** First Id */
            first_id: string | null;
            /** Last Id */
            last_id: string | null;
            /** Has More */
            has_more: boolean;
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
        };
        /** TermsAccept */
        TermsAccept: {
            /** Versions */
            versions: number[];
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
             * @description False: what changes the account's security asks for the password again.
             */
            recent_sign_in: boolean;
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
        /** PasswordResetConfirm */
        PasswordResetConfirm: {
            /** Password */
            password: string;
            /** Token */
            token: string;
        };
        /** LinkConfirm */
        LinkConfirm: {
            /** Token */
            token: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    create_chat_completion: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    create_completion: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompletionRequest"];
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    create_embeddings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmbeddingsRequest"];
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    list_models: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    retrieve_model: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                model_id: string;
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    create_moderation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModerationRequest"];
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    create_response: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResponseCreate"];
            };
        };
        responses: {
            /** @description The response, or its events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        object: string;
                        created_at: number;
                        status: string;
                        output: Record<string, never>[];
                    };
                    "text/event-stream": string;
                };
            };
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    get_response: {
        parameters: {
            query?: {
                stream?: boolean;
                starting_after?: number | null;
                include_obfuscation?: boolean | null;
                include?: string[];
            };
            header?: never;
            path: {
                response_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response, or its events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        object: string;
                        created_at: number;
                        status: string;
                        output: Record<string, never>[];
                    };
                    "text/event-stream": string;
                };
            };
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    delete_response: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                response_id: string;
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    cancel_response: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                response_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response, or its events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        object: string;
                        created_at: number;
                        status: string;
                        output: Record<string, never>[];
                    };
                    "text/event-stream": string;
                };
            };
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    list_response_input_items: {
        parameters: {
            query?: {
                limit?: number;
                order?: "asc" | "desc";
                after?: string | null;
                include?: string[];
            };
            header?: never;
            path: {
                response_id: string;
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    create_openai_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationNew"];
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    get_openai_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                openai_conversation_id: string;
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    update_openai_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                openai_conversation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationChange"];
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    delete_openai_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                openai_conversation_id: string;
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    list_openai_conversation_items: {
        parameters: {
            query?: {
                limit?: number;
                order?: "asc" | "desc";
                after?: string | null;
                include?: string[];
            };
            header?: never;
            path: {
                openai_conversation_id: string;
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    create_openai_conversation_items: {
        parameters: {
            query?: {
                include?: string[];
            };
            header?: never;
            path: {
                openai_conversation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ItemsNew"];
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    get_openai_conversation_item: {
        parameters: {
            query?: {
                include?: string[];
            };
            header?: never;
            path: {
                openai_conversation_id: string;
                item_id: string;
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    delete_openai_conversation_item: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                openai_conversation_id: string;
                item_id: string;
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    list_conversations: {
        parameters: {
            query?: {
                search?: string;
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
                    "application/json": components["schemas"]["ConversationListOut"];
                };
            };
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    list_shares: {
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
                    "application/json": components["schemas"]["ShareListOut"];
                };
            };
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    list_appeals: {
        parameters: {
            query?: {
                generation_id?: string | null;
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    list_keys: {
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
                    "application/json": components["schemas"]["KeyListOut"];
                };
            };
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    usage: {
        parameters: {
            query?: {
                period?: string;
                group_by?: ("day" | "model" | "key" | "user") | null;
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    list_invoices: {
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
                    "application/json": components["schemas"]["InvoiceListOut"];
                };
            };
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    list_budgets: {
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
                    "application/json": components["schemas"]["BudgetListOut"];
                };
            };
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    list_deliveries: {
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
                    "application/json": components["schemas"]["DeliveryListOut"];
                };
            };
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    usage_of_completions: {
        parameters: {
            query: {
                start_time: number;
                end_time?: number | null;
                bucket_width?: "1m" | "1h" | "1d";
                limit?: number | null;
                page?: string | null;
                group_by?: string[];
                project_ids?: string[];
                user_ids?: string[];
                api_key_ids?: string[];
                models?: string[];
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
                    "application/json": components["schemas"]["PageOut"];
                };
            };
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    costs: {
        parameters: {
            query: {
                start_time: number;
                end_time?: number | null;
                bucket_width?: "1d";
                limit?: number | null;
                page?: string | null;
                group_by?: string[];
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
                    "application/json": components["schemas"]["PageOut"];
                };
            };
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    list_audit_logs: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
                before?: string | null;
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
                    "application/json": components["schemas"]["OpenAIAuditLogsOut"];
                };
            };
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    reauthenticate: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    logout: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
    confirm_address: {
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
            /** @description An error, in OpenAI's shape. */
            400: {
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
            /** @description An error, in OpenAI's shape. */
            401: {
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
            /** @description An error, in OpenAI's shape. */
            403: {
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
            /** @description An error, in OpenAI's shape. */
            404: {
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
            /** @description An error, in OpenAI's shape. */
            405: {
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
            /** @description An error, in OpenAI's shape. */
            409: {
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
            /** @description An error, in OpenAI's shape. */
            413: {
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
            /** @description An error, in OpenAI's shape. */
            415: {
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
            /** @description An error, in OpenAI's shape. */
            429: {
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
            /** @description An error, in OpenAI's shape. */
            500: {
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
            /** @description An error, in OpenAI's shape. */
            502: {
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
            /** @description An error, in OpenAI's shape. */
            503: {
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
            /** @description An error, in OpenAI's shape. */
            504: {
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
}
