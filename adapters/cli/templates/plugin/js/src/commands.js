/** What an administrator types: `aos sample list`. */
export const commands = (notes) => [
  {
    name: 'sample list',
    summary: 'List the newest notes.',
    run: async () => {
      const items = await notes.newest();
      return { json: { items }, text: items.map(({ at, text }) => `${at}  ${text}`).join('\n') };
    },
  },
];
