/**
 * `install.ps1` read by PowerShell's grammar for tree-sitter (prepare.sh), since PowerShell itself
 * is no package of Linux distributions. Skipped where the grammar is missing.
 */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { renderInstallPs1 } from '../../../../plugins/setup/installer/install-ps1.js';
import { isAvailable } from '../../../support/requirements.js';
import { TestService } from '../../../support/service.js';

const FOLDER = process.env['SVC_TEST_POWERSHELL'] ?? join(tmpdir(), `aos-test-powershell-${userInfo().uid}`);
const MODULES = join(FOLDER, 'node_modules');

interface Node {
  type: string;
  text: string;
  isError: boolean;
  isMissing: boolean;
  startPosition: { row: number };
  children: Node[];
}
interface TreeSitter {
  Parser: {
    init(): Promise<void>;
    new (): { setLanguage(language: object): void; parse(text: string): { rootNode: Node } };
  };
  Language: { load(bytes: Uint8Array): Promise<object> };
}

const listNodes = (node: Node): Node[] => [node, ...node.children.flatMap(listNodes)];

/**
 * The value of a text in single quotes, as PowerShell reads it: every typographic quote counts as
 * one.
 */
const valueOf = (literal: string): string =>
  literal.slice(1, -1).replaceAll(/(['\u2018-\u201b])['\u2018-\u201b]/g, '$1');

describe('setup: install.ps1 parsed by the PowerShell grammar', function () {
  this.timeout(300_000);
  let parse: (text: string) => Node;

  before(async function () {
    if (!isAvailable('powershell', existsSync(join(FOLDER, '.complete')))) this.skip();
    const { Parser, Language } = (await import(
      pathToFileURL(join(MODULES, 'web-tree-sitter', 'web-tree-sitter.js')).href
    )) as TreeSitter;
    await Parser.init();
    const grammar = join(MODULES, 'tree-sitter-powershell', 'tree-sitter-powershell.wasm');
    const parser = new Parser();
    parser.setLanguage(await Language.load(await readFile(grammar)));
    parse = (text) => parser.parse(text).rootNode;
  });

  const listFaults = (text: string): string[] =>
    listNodes(parse(text))
      .filter(({ isError, isMissing }) => isError || isMissing)
      .map(({ type, startPosition, text: at }) => `line ${startPosition.row + 1}: ${type} ${at.slice(0, 80)}`);
  const agent = (name: string) => ({
    name,
    runtime: 'win-x64',
    kind: 'agent' as const,
    size: 1,
    sha256: 'b'.repeat(64),
  });

  it('detects syntax errors', () => {
    for (const text of ["$a = 'open", 'if ($a) { 1', "$url = 'https://a'b'"])
      expect(listFaults(text), text).not.to.deep.equal([]);
  });

  const NAMES = [
    'https://aos.example',
    "https://aos.example/o'brien",
    'https://aos.example/\u2018typographic\u2019 \u201aquotes\u201b',
    'https://aos.example/with spaces; Remove-Item x',
    'https://größe.example/日本/😀',
    'https://aos.example/$(calc)/`n/"quoted"/$env:PATH',
    "https://aos.example/'; exit 1; '",
  ];
  for (const url of NAMES)
    it(`parses with the URL unchanged: ${url}`, () => {
      const file = url.replace('https://aos.example/', '');
      const text = renderInstallPs1({ url, files: [agent(file)] });
      expect(listFaults(text)).to.deep.equal([]);
      const statements = listNodes(parse(text)).filter(({ type }) => type === 'assignment_expression');
      const values = new Map(
        statements.flatMap((one) => {
          const literal = listNodes(one).filter(({ type }) => type === 'verbatim_string_characters');
          const name = /^\$(server|file|sum) = /.exec(one.text)?.[1];
          return name === undefined ? [] : [[name, literal.map((node) => valueOf(node.text))] as const];
        }),
      );
      expect(Object.fromEntries(values)).to.deep.equal({ server: [url], file: [file], sum: ['b'.repeat(64)] });
    });

  it('parses without an agent for Windows, and without any agent', () => {
    for (const files of [[], [{ ...agent('update-agent'), runtime: 'linux-x64' }]])
      expect(listFaults(renderInstallPs1({ url: NAMES[1] ?? '', files }))).to.deep.equal([]);
  });

  it('parses as served by the service', async () => {
    const service = await TestService.createInProcess({ SVC_BASE_URL: 'https://aos.example' });
    try {
      const text = await (await fetch(`${service.url}/installer/install.ps1`)).text();
      expect(text).to.include('function Install-UpdateAgent');
      expect(listFaults(text)).to.deep.equal([]);
    } finally {
      await service.dispose();
    }
  });
});
