/** What programs call; the service validates, limits and documents it. */
import { created, joi, type RouteSpec } from 'aos/plugin';
import type { Notes } from './notes.js';

const note = joi.object({
  id: joi.string().required(),
  text: joi.string().required(),
  at: joi.string().isoDate().required(),
  source: joi.string().valid('person', 'tracker').required(),
});

export const routes = (notes: Notes): RouteSpec[] => [
  {
    method: 'GET',
    path: '/api/sample/v1/notes',
    summary: 'The newest notes',
    access: { scope: 'sample:read' },
    output: joi.object({ items: joi.array().items(note).required() }),
    handle: async () => ({ items: await notes.newest() }),
  },
  {
    method: 'POST',
    path: '/api/sample/v1/notes',
    summary: 'Add a note',
    access: { scope: 'sample:write' },
    input: { body: joi.object({ text: joi.string().allow('').max(500).required() }) },
    output: joi.object({ note: note.required() }),
    status: 201,
    errors: ['sample_empty'],
    handle: async ({ body }) => created({ note: await notes.add((body as { text: string }).text) }),
  },
];
