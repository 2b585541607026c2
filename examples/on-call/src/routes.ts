/** What programs and agents call. The service validates, limits and describes it (`/docs/api`). */
import { created, deleted, joi, whole, type RouteSpec } from 'aos/plugin';
import type { NewShift, Shift, Shifts } from './shifts.js';

const time = joi.string().isoDate();
const shift = whole({ id: joi.string(), person: joi.string(), starts_at: time, ends_at: time });
const shown = ({ id, person, starts_at, ends_at }: Shift): object => ({ id, person, starts_at, ends_at });

export const routes = (shifts: Shifts, add: (shift: NewShift) => Promise<Shift>): RouteSpec[] => [
  {
    method: 'GET',
    path: '/api/oncall/v1/shifts',
    summary: 'Current and upcoming shifts, the next first',
    access: { scope: 'oncall:read' },
    output: joi.object({ items: joi.array().items(shift).required() }),
    handle: async () => ({ items: (await shifts.coming()).map(shown) }),
  },
  {
    method: 'GET',
    path: '/api/oncall/v1/now',
    summary: 'Who is on call now',
    access: { scope: 'oncall:read' },
    output: joi.object({ shift: shift.allow(null).required() }),
    tool: {
      name: 'who_is_on_call',
      title: 'Who is on call',
      description: 'Returns the person who is on call now and until when, or null. Use it before you contact a person.',
      readOnly: true,
    },
    handle: async () => {
      const running = await shifts.now();
      return { shift: running === null ? null : shown(running) };
    },
  },
  {
    method: 'POST',
    path: '/api/oncall/v1/shifts',
    summary: 'Add a shift',
    access: { scope: 'oncall:write' },
    input: {
      body: joi.object({
        person: joi.string().trim().max(100).required(),
        starts_at: time.required(),
        ends_at: time.required(),
      }),
    },
    output: joi.object({ shift: shift.required() }),
    status: 201,
    errors: ['oncall_overlap', 'oncall_backwards', 'conflict'],
    handle: async ({ body }) => {
      const { person, starts_at, ends_at } = body as NewShift;
      const utc = (text: string): string => new Date(text).toISOString();
      return created({ shift: shown(await add({ person, starts_at: utc(starts_at), ends_at: utc(ends_at) })) });
    },
  },
  {
    method: 'DELETE',
    path: '/api/oncall/v1/shifts/{id}',
    summary: 'Remove a shift',
    access: { scope: 'oncall:write' },
    input: { params: joi.object({ id: joi.string().guid().required() }) },
    output: deleted,
    errors: ['not_found'],
    handle: async ({ params }) => {
      await shifts.remove(params['id'] ?? '');
      return { deleted: true };
    },
  },
];
