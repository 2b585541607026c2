/** What people see. A refused form is shown again with what was typed. */
import { invalid, orAgain, Redirect, utcOfLocal, View, type PageSpec, type PanelSpec } from 'aos/plugin';
import type { NewShift, Shift, Shifts } from './shifts.js';

const PATH = '/oncall';
const access = { session: 'member' } as const;

/** The form's times are local to the service's time zone. @throws ServiceError validation_failed */
function shiftOf(form: Partial<NewShift>, timezone: string): NewShift {
  const { person = '', starts_at = '', ends_at = '' } = form;
  const [starts, ends] = [utcOfLocal(starts_at, timezone), utcOfLocal(ends_at, timezone)];
  const time = 'Enter a day and a time.';
  if (person.trim() === '') throw invalid({ person: 'Name somebody.' });
  if (starts === null) throw invalid({ starts_at: time });
  if (ends === null) throw invalid({ ends_at: time });
  return { person: person.trim(), starts_at: starts, ends_at: ends };
}

export const pages = (shifts: Shifts, add: (shift: NewShift) => Promise<Shift>, timezone: string): PageSpec[] => [
  {
    path: PATH,
    title: 'On call',
    nav: { section: 'operations', label: 'On call', icon: 'clock', order: 90 },
    access,
    handle: async () => new View('shifts', { shifts: await shifts.coming() }),
  },
  {
    method: 'POST',
    path: PATH,
    title: 'On call',
    access,
    handle: ({ body }) => {
      const form = body as Partial<NewShift>;
      return orAgain(
        async () => {
          const { person } = await add(shiftOf(form, timezone));
          return new Redirect(PATH, { tone: 'success', message: `Shift of ${person} added.` });
        },
        async (problem) => new View('shifts', { shifts: await shifts.coming(), form, ...problem }),
      );
    },
  },
  {
    method: 'POST',
    path: `${PATH}/{id}/remove`,
    title: 'On call',
    access,
    handle: async ({ params }) => {
      await shifts.remove(params['id'] ?? '');
      return new Redirect(PATH, { tone: 'success', message: 'Shift removed.' });
    },
  },
];

export const panels = (shifts: Shifts): PanelSpec[] => [
  {
    id: 'oncall',
    kind: 'side',
    order: 50,
    load: async () => new View('now', { shift: await shifts.now() }),
  },
];
