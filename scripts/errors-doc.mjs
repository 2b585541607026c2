// Writes docs/errors.md from kernel/errors.ts and the manifests of the built-in plugins (after a
// build): `node scripts/errors-doc.mjs`.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CODES } from '../dist/kernel/errors.js';
import { BUILTIN } from '../dist/config/compose/compose.js';

const renderSection = (title, codes) =>
  [
    `## ${title}`,
    '',
    '| HTTP | code | meaning | on a page |',
    '| ---: | --- | --- | --- |',
    ...Object.entries(codes)
      .sort(([a, [x]], [b, [y]]) => x - y || (a < b ? -1 : 1))
      .map(([code, [status, meaning, words = '']]) => `| ${status} | \`${code}\` | ${meaning} | ${words} |`),
    '',
  ].join('\n');

/** Returns the page's text; test/docs/errors.test.ts compares it with the committed file. */
export function renderErrorsPage() {
  const own = BUILTIN.filter(({ errors }) => Object.keys(errors ?? {}).length > 0);
  return [
    '# Error codes',
    '',
    'Generated from `kernel/errors.ts` and the manifests of the plugins by `node scripts/errors-doc.mjs`; do not edit.',
    '',
    'Every error response is `{"status":"error","error":{"code","message","fields"?,"request_id"}}`. `code` is stable, `message` is',
    'one human-readable sentence, `fields` contains each problem and how to fix it. On a page, `message` is shown below the',
    'text of the last column, and each of `fields` below its control. The license endpoints `validate`,',
    '`deactivate`, `file` and `pubkey` return `{"status":"<code>","message","fields"?}` without the envelope.',
    '',
    'An unknown field is not an error, so that newer clients work with older servers: it is ignored, and `warnings`',
    'of the response contains it (`"warnings":["customer is no field of this call"]`, at most ten sentences). Check it when',
    'a sent field has no effect. Fields that the interface describes and this version does not support yet are rejected with',
    '422.',
    '',
    '`x-error-codes` of `/api/openapi.json` contains the same codes, and those of additional plugins. A',
    'plugin that returns a code that no manifest declares is faulty: the client gets `internal_error`, and the',
    'log contains the plugin and the code.',
    '',
    renderSection('Everywhere', CODES),
    ...own.map(({ title, errors }) => renderSection(title, errors)),
  ].join('\n');
}

if (process.argv[1] !== undefined && import.meta.url.endsWith(process.argv[1].split('/').at(-1)))
  await writeFile(join(import.meta.dirname, '..', 'docs', 'errors.md'), renderErrorsPage());
