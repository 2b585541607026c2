/** A plugin as an integrator writes one: a little of everything that `aos/testing` can ask for. */
import joi from 'joi';
import { definePlugin, event, listen, Redirect, refuse, View, type Doc } from '../../kernel/contract/index.js';
import { BUG_CREATED } from '../../ports/domain/bugs.js';
import { PROJECTS } from '../../ports/domain/projects.js';

export interface Note extends Doc {
  id: string;
  text: string;
  at: string;
}

export interface ChatConfig {
  room: string;
}

export const NOTED = event<{ text: string }>('chat.noted');

export const chat = definePlugin<ChatConfig>({
  id: 'chat',
  version: '1.0.0',
  api: 1,
  title: 'Chat',
  needs: [PROJECTS.name],
  config: joi.object({ room: joi.string().default('lobby') }),
  scopes: ['chat:read', 'chat:write'],
  events: [NOTED.event],
  errors: { chat_silent: [409, 'The room is silent'] },
  collections: [{ name: 'notes', indexes: [{ fields: ['text'], unique: true }] }],
  from: import.meta.url,
  setup(ctx) {
    const notes = ctx.collection<Note>('notes');
    const add = async (text: string): Promise<void> => {
      if (text === '') throw refuse(409, 'chat_silent', 'Say something', { fields: { text: 'is empty' } });
      await notes.insert({ id: ctx.ids.uuid(), text, at: ctx.clock.iso() });
      await ctx.emit(NOTED.event, { text });
      await ctx.ports.jobs.enqueue('post', text, { key: 'one' });
    };
    return {
      routes: [
        {
          method: 'GET',
          path: '/api/chat/v1/notes',
          summary: 'Notes',
          access: { scope: 'chat:read' },
          handle: async ({ principal }) => ({
            room: ctx.config.room,
            project: principal.kind === 'token' ? principal.project : null,
            items: (await notes.find()).items,
          }),
        },
        {
          method: 'POST',
          path: '/api/chat/v1/notes',
          summary: 'Add a note',
          access: { scope: 'chat:write' },
          input: { body: joi.object({ text: joi.string().allow('').required() }) },
          handle: async ({ body }) => {
            await add((body as { text: string }).text);
            return {};
          },
        },
      ],
      pages: [
        { path: '/chat', title: 'Notes', access: { session: 'member' }, handle: () => new View('notes') },
        {
          method: 'POST',
          path: '/chat',
          title: 'Notes',
          access: { session: 'member' },
          handle: async ({ body }) => {
            await add((body as { text: string }).text);
            return new Redirect('/chat');
          },
        },
      ],
      panels: [
        {
          id: 'chat',
          kind: 'trend',
          order: 1,
          load: async () => new View('panel', { waiting: await notes.count() }),
        },
      ],
      jobs: [
        {
          name: 'post',
          run: async ({ data }) => {
            if (data === 'bad') throw new Error('the room is gone');
            await ctx.ports.outbound.request({
              method: 'POST',
              url: 'https://chat.example.org/',
              body: String(data),
              policy: { mode: 'private-ok', allow: [] },
            });
          },
        },
      ],
      listens: [
        listen(BUG_CREATED, async ({ data }) => {
          if ((await ctx.resolve(PROJECTS).get('shop')) !== null) await add(`${data.ref}: ${data.title}`);
        }),
      ],
      commands: [
        {
          name: 'chat say',
          summary: 'Adds a note.',
          args: ['text'],
          run: async ({ args }) => {
            await add(String(args[0]));
            return { json: {}, text: 'said' };
          },
        },
      ],
      health: async () => ({ ok: true, notes: await notes.count() }),
    };
  },
});
