/** On call: who answers when something breaks. The manifest, and what the plugin contributes. */
import { BUG_CRITICAL, ITEMS } from 'aos/domain';
import { conflict, definePlugin, joi, listen } from 'aos/plugin';
import { commands } from './commands.js';
import { pages, panels } from './pages.js';
import { routes } from './routes.js';
import { ERRORS, HANDOVER, Shifts, type Handover, type NewShift, type Shift } from './shifts.js';

export interface Config {
  comment: boolean;
}

export default definePlugin<Config>({
  id: 'oncall',
  version: '0.1.0',
  api: 1,
  title: 'On call',
  // May be absent: without the bug tracker nothing is commented.
  uses: [ITEMS.name],
  // Its section of the configuration: { "oncall": { "comment": true } }
  config: joi.object({
    comment: joi.boolean().default(true).description('Comment on each new critical item who is on call'),
  }),
  scopes: ['oncall:read', 'oncall:write'],
  events: [HANDOVER.event],
  errors: ERRORS,
  collections: [{ name: 'shifts', indexes: [{ fields: ['starts_at'] }, { fields: ['ends_at'] }] }],
  migrations: [
    {
      // Shifts of the first version knew nothing of announcements; none of them is announced again.
      number: 1,
      name: 'announced-shifts',
      run: async ({ collection }) => {
        await collection<Shift>('shifts').changeMany({ announced: { exists: false } }, { set: { announced: true } });
      },
    },
  ],
  from: import.meta.url,
  setup(ctx) {
    const shifts = new Shifts(ctx.collection('shifts'), ctx.clock, ctx.ids);
    const add = async (shift: NewShift): Promise<Shift> => {
      const done = await ctx.lock('shifts', () => shifts.add(shift));
      if (done === null) throw conflict('Someone else is changing the shifts. Try again.');
      return done.result;
    };
    const announce = (shift: Shift): Promise<boolean> => {
      const data: Handover = { shift_id: shift.id, person: shift.person };
      return ctx.emit(HANDOVER.event, data, { id: `evt_${shift.id}` });
    };
    return {
      routes: routes(shifts, add),
      pages: pages(shifts, add, ctx.app.timezone),
      panels: panels(shifts),
      commands: commands(shifts),
      listens: [
        listen(BUG_CRITICAL, async ({ data }) => {
          const shift = ctx.config.comment ? await shifts.now() : null;
          if (shift === null) return;
          const body = `${shift.person} is on call until ${shift.ends_at}.`;
          await ctx.find(ITEMS)?.comment(data.id, { body, key: `critical-${shift.id}` });
        }),
      ],
      jobs: [{ name: 'handover', everyMs: 60_000, run: () => shifts.handOver(announce) }],
      health: async () => ({ ok: true, on_call: (await shifts.now())?.person ?? null }),
    };
  },
});
