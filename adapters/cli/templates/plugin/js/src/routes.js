/** What programs call. The service validates, limits and describes it (`/docs/api`), and puts the envelope around. */
import { created, joi } from 'aos/plugin';

const note = joi.object({
  id: joi.string().required(),
  text: joi.string().required(),
  at: joi.string().isoDate().required(),
  source: joi.string().valid('person', 'tracker').required(),
});

export const routes = (notes) => [
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
    handle: async ({ body }) => created({ note: await notes.add(body.text) }),
  },
];
