/**
 * The requests in the guides, and the examples in openapi.json, against the description itself:
 * what a reader copies is what the service takes.
 */
import { expect } from 'chai';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TestService } from '../support/service.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');

interface Operation {
  requestBody?: { content: Record<string, { schema: object }> };
}
interface Description {
  paths: Record<string, Record<string, Operation>>;
}

interface Documented {
  where: string;
  method: string;
  path: string;
  body: string;
}

/** `'it'\''s'` as the shell reads it. */
const unquoted = (text: string): string => text.replaceAll(String.raw`'\''`, "'");

/** Calls of curl with a body in a page's fenced blocks. */
function requestsOf(name: string, page: string): Documented[] {
  const found: Documented[] = [];
  for (const [, block = ''] of page.matchAll(/^```(?:sh|console|bash)?\n([\s\S]*?)^```/gm)) {
    for (const command of block.matchAll(/curl (?:[^'"\n\\]|\\\n|'(?:[^']|'\\'')*'|"[^"]*")*/g)) {
      const [text] = command;
      const body = / (?:-d|--data) '((?:[^']|'\\'')*)'/.exec(text)?.[1];
      const url = /["']?(?:https?:\/\/[^/\s"']+|\$\{?\w+\}?)(\/[^\s"'?]*)/.exec(text)?.[1];
      if (body === undefined || url === undefined) continue;
      const method = (/ -X ([A-Z]+)/.exec(text)?.[1] ?? 'POST').toLowerCase();
      found.push({ where: `${name}: ${text.slice(0, 80)}`, method, path: url, body: unquoted(body) });
    }
  }
  return found;
}

describe('requests in the guides', function () {
  let description: Description;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (formats as unknown as (on: Ajv2020) => void)(ajv);

  before(async () => {
    const service = await TestService.createInProcess();
    description = (await (await fetch(`${service.url}/api/openapi.json`)).json()) as Description;
    await service.dispose();
    ajv.addSchema(description, 'openapi.json');
  });

  const pointer = (...keys: string[]): string =>
    keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');

  function judgeOf(path: string, method: string, type: string): ValidateFunction {
    const at = pointer('paths', path, method, 'requestBody', 'content', type, 'schema');
    return ajv.compile({ $ref: `openapi.json#/${at}` });
  }

  function operationAt(path: string, method: string): string | undefined {
    return Object.keys(description.paths).find((template) => {
      const shape = new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`);
      return shape.test(path) && description.paths[template]?.[method] !== undefined;
    });
  }

  it('have bodies that the OpenAPI document accepts', async () => {
    const pages = [
      'README.md',
      ...(await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
    ];
    const requests: Documented[] = [];
    for (const page of pages) requests.push(...requestsOf(page, await readFile(join(ROOT, page), 'utf8')));
    expect(requests.length).to.be.at.least(12);
    const faults: string[] = [];
    for (const { where, method, path, body } of requests) {
      const template = operationAt(path, method);
      if (template === undefined) {
        faults.push(`${where}\n  no such operation: ${method} ${path}`);
        continue;
      }
      // An operation that takes nothing is sent an empty object.
      if (description.paths[template]?.[method]?.requestBody === undefined && body === '{}') continue;
      const check = judgeOf(template, method, 'application/json');
      if (!check(JSON.parse(body))) faults.push(`${where}\n  ${ajv.errorsText(check.errors)}`);
    }
    expect(faults.join('\n')).to.equal('');
  });

  it('accept every example in openapi.json by its schema', () => {
    const faults: string[] = [];
    let checked = 0;
    const walk = (node: unknown, keys: readonly string[]): void => {
      if (node === null || typeof node !== 'object') return;
      const { examples } = node as { examples?: unknown };
      if (Array.isArray(examples) && ('type' in node || 'properties' in node || '$ref' in node)) {
        const check = ajv.compile({ $ref: `openapi.json#/${pointer(...keys)}` });
        for (const example of examples) {
          checked += 1;
          if (!check(example)) faults.push(`${keys.join('/')}: ${ajv.errorsText(check.errors)}`);
        }
      }
      for (const [key, inner] of Object.entries(node)) if (key !== 'examples') walk(inner, [...keys, key]);
    };
    walk(description, []);
    expect(faults.join('\n')).to.equal('');
    expect(checked).to.be.greaterThan(5);
  });
});
