/** What people see. A refused form is shown again with what was typed. */
import { orAgain, Redirect, View } from 'aos/plugin';

export const pages = (notes) => [
  {
    path: '/sample',
    title: 'Sample',
    nav: { section: 'operations', label: 'Sample', icon: 'comment', order: 90 },
    access: { session: 'member' },
    handle: async () => new View('notes', { notes: await notes.newest() }),
  },
  {
    method: 'POST',
    path: '/sample',
    title: 'Sample',
    access: { session: 'member' },
    handle: async ({ body }) => {
      const { text = '' } = body;
      return orAgain(
        async () => {
          await notes.add(text);
          return new Redirect('/sample', { tone: 'success', message: 'Added.' });
        },
        async (problem) => new View('notes', { notes: await notes.newest(), form: { text }, ...problem }),
      );
    },
  },
];
