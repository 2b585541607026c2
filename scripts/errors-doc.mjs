// Writes docs/errors.md from the table in kernel/errors.ts (after a build): `node scripts/errors-doc.mjs`.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CODES } from '../dist/kernel/errors.js';

/** The page's text; test/docs/errors.test.ts compares it with the committed file. */
export function errorsPage() {
  const rows = Object.entries(CODES)
    .sort(([a, [x]], [b, [y]]) => x - y || (a < b ? -1 : 1))
    .map(([code, [status, meaning]]) => `| ${status} | \`${code}\` | ${meaning} |`);
  return [
    '# Error codes',
    '',
    'Made from `kernel/errors.ts` by `node scripts/errors-doc.mjs`; do not edit.',
    '',
    'Every error answers `{"status":"error","error":{"code","message","fields"?,"request_id"}}`. `code` is stable, `message` is',
    'one sentence for a person, `fields` names what is wrong and how to mend it. The license endpoints `validate`,',
    '`deactivate`, `file` and `pubkey` answer `{"status":"<code>","message","fields"?}` without the envelope.',
    '',
    '| HTTP | code | meaning |',
    '| ---: | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

if (process.argv[1] !== undefined && import.meta.url.endsWith(process.argv[1].split('/').at(-1)))
  await writeFile(join(import.meta.dirname, '..', 'docs', 'errors.md'), errorsPage());
