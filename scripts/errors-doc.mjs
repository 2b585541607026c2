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
    'Made from `kernel/errors.ts` and the manifests of the plugins by `node scripts/errors-doc.mjs`; do not edit.',
    '',
    'Every error answers `{"status":"error","error":{"code","message","fields"?,"request_id"}}`. `code` is stable, `message` is',
    'one sentence for a person, `fields` names what is wrong and how to fix it. On a page, `message` stands below the',
    'words of the last column, and each of `fields` below its control. The license endpoints `validate`,',
    '`deactivate`, `file` and `pubkey` answer `{"status":"<code>","message","fields"?}` without the envelope.',
    '',
    'A field that a call does not know is no error, so that older servers and newer clients meet: it is left out, and `warnings`',
    'of the answer names it (`"warnings":["customer is no field of this call"]`, at most ten sentences). Look there when',
    'something that was sent does nothing. What the interface describes and this version does not have yet is refused with',
    '422.',
    '',
    '`x-error-codes` of `/api/openapi.json` has the same codes, and those of plugins that are installed beside the built-in ones. A',
    'plugin that refuses with a code that no manifest declares has a fault: the caller is answered `internal_error`, and the',
    'log names the plugin and the code.',
    '',
    renderSection('Everywhere', CODES),
    ...own.map(({ title, errors }) => renderSection(title, errors)),
  ].join('\n');
}

if (process.argv[1] !== undefined && import.meta.url.endsWith(process.argv[1].split('/').at(-1)))
  await writeFile(join(import.meta.dirname, '..', 'docs', 'errors.md'), renderErrorsPage());
