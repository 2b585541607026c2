import type { CommandSpec } from 'aos/plugin';
import type { Notes } from './notes.js';

export const commands = (notes: Notes): CommandSpec[] => [
  {
    name: 'sample list',
    summary: 'List the newest notes.',
    run: async () => {
      const items = await notes.newest();
      return { json: { items }, text: items.map(({ at, text }) => `${at}  ${text}`).join('\n') };
    },
  },
];
