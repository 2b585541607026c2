/**
 * docs/body-limits.md has a line for each route whose body is not bounded as every other body of
 * JSON is.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { findPackageRoot } from '../../config/load.js';
import { BUILTIN } from '../../config/compose/compose.js';
import type { RouteSpec } from '../../ports/http/index.js';
import { bootTestKernel } from '../harness.js';

/**
 * `PATCH …/bugs/{id}` as a pattern of paths: `…` is any beginning or part, a parameter has any
 * name.
 */
function toPattern(path: string): RegExp {
  const plain = path.replace(/\?.*$/, '').replace(/\/$/, '');
  const parts = plain.split(/(…|\{[^}]*\})/).map((part) => {
    if (part === '…') return '.*';
    return part.startsWith('{') ? '[^/]+' : part.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join('')}/?$`);
}

/** Routes named in the first cells of the table. */
function namedRoutes(page: string): RegExp[] {
  const table = page.slice(page.indexOf('## Routes'));
  const cells = table.split('\n').flatMap((line) => /^\|([^|]*)\|/.exec(line)?.[1] ?? []);
  return cells
    .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name.replace(/^[A-Z]+ /, '')))
    .filter((name) => /^[/…]/.test(name))
    .map(toPattern);
}

/** A body that is larger, inflated, streamed, raw, or charged by what is in it. */
const isSpecial = ({ input, limits = {} }: RouteSpec): boolean =>
  input?.stream !== undefined ||
  limits.bytes !== undefined ||
  limits.keptBytes !== undefined ||
  limits.inflate === true ||
  limits.payload === 'raw' ||
  limits.cost !== undefined ||
  limits.categories !== undefined;

describe('docs/body-limits.md', () => {
  it('lists each route with custom body limits', async () => {
    const access = { admin_user: 'admin', admin_password: 'correct-horse-battery-staple' };
    const service = await bootTestKernel(BUILTIN, { sections: { auth: access } });
    try {
      const routes = service.kernel.listRoutes().map(({ spec }): RouteSpec => spec);
      const methods = ({ method }: RouteSpec): readonly string[] => [method].flat();
      const special = routes.filter(
        (spec) => methods(spec).some((one) => !['GET', 'DELETE'].includes(one)) && isSpecial(spec),
      );
      expect(special.length).to.be.above(10);
      const named = namedRoutes(await readFile(join(findPackageRoot(), 'docs', 'body-limits.md'), 'utf8'));
      const missing = special.filter(({ path }) => !named.some((pattern) => pattern.test(path)));
      expect(missing.map((spec) => `${methods(spec).join()} ${spec.path}`)).to.deep.equal([]);
    } finally {
      await service.stop();
    }
  });
});
