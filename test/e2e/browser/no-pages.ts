/**
 * Answers that are no page: JSON of the live lists, a file; and what one session alone has
 * (browser/forms.test.ts).
 */
export const NO_PAGES = new Set([
  '/bugs/live',
  '/errors/live',
  '/search/live',
  '/first-steps/{id}/result',
  '/monitors/{source}/uptime.csv',
  '/licenses.csv',
  '/incidents.csv',
  '/status-pages/{id}/subscribers.csv',
  '/docs/images/{file}',
  '/resume/{id}',
  '/bugs/{ref}/trace.txt',
  '/status-page/{slug}/feed.xml',
  '/status-page/{slug}/feed.atom',
  '/status-page/{slug}/badge.svg',
  '/status-page/{slug}/badge.json',
  '/status-page/{slug}/logo',
  '/status-page/{slug}/brand.css',
  '/brand/{slug}/logo',
  '/brand/{slug}/brand.css',
  '/status-page/{slug}/preview/{key}/logo',
  '/status-page/{slug}/preview/{key}/brand.css',
]);
