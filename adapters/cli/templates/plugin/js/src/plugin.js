/** Sample: the manifest, and what the plugin contributes. */
import { BUG_CREATED } from 'aos/domain';
import { definePlugin, joi, listen } from 'aos/plugin';
import { commands } from './commands.js';
import { Notes } from './notes.js';
import { pages } from './pages.js';
import { routes } from './routes.js';

export default definePlugin({
  id: 'sample',
  version: '0.1.0',
  api: 1,
  title: 'Sample',
  // An order, not a demand: without the bug tracker there are no notes of its items.
  after: ['bugs'],
  // Its section of the configuration: { "sample": { "keep_days": 30 } }
  config: joi.object({
    keep_days: joi.number().integer().min(1).default(30).description('Days before a note is deleted'),
  }),
  scopes: ['sample:read', 'sample:write'],
  errors: { sample_empty: [422, 'A note has no text'] },
  collections: [{ name: 'notes', indexes: [{ fields: ['at'] }] }],
  migrations: [
    {
      // Recorded and run once, also where two processes start together. Numbers only rise; changes only add.
      number: 1,
      name: 'source-of-notes',
      run: async ({ collection }) => {
        await collection('notes').changeMany({ source: { exists: false } }, { set: { source: 'person' } });
      },
    },
  ],
  from: import.meta.url,
  setup(ctx) {
    const notes = new Notes(ctx.collection('notes'), ctx.clock, ctx.ids);
    return {
      routes: routes(notes),
      pages: pages(notes),
      commands: commands(notes),
      listens: [
        listen(BUG_CREATED, async ({ id, data }) => {
          await notes.once(id, `${data.ref}: ${data.title}`);
        }),
      ],
      jobs: [{ name: 'forget', everyMs: 3_600_000, run: () => notes.forget(ctx.config.keep_days) }],
      health: async () => ({ ok: true, notes: await notes.count() }),
    };
  },
});
