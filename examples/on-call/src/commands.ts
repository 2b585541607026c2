/** What an administrator types: `aos oncall now`. */
import type { CommandSpec } from 'aos/plugin';
import type { Shifts } from './shifts.js';

export const commands = (shifts: Shifts): CommandSpec[] => [
  {
    name: 'oncall now',
    summary: 'Show who is on call now.',
    run: async () => {
      const shift = await shifts.now();
      const text = shift === null ? 'no one is on call' : `${shift.person}, until ${shift.ends_at}`;
      return { json: { person: shift?.person ?? null, until: shift?.ends_at ?? null }, text };
    },
  },
];
