/**
 * Validates the views of plugins at startup, so that errors are reported with file and line instead
 * of appearing on a page.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import Handlebars from 'handlebars';
import type { MountedPage } from '../../../ports/http.js';
import { partsIn } from './views.js';

const BUILT_IN = ['if', 'unless', 'each', 'with', 'lookup', 'log', 'helperMissing', 'blockHelperMissing'];
const ANY = '\u0000';
const OWN_FORMS = ['/theme', '/logout', '/project-choice'];

interface Offered {
  partials: ReadonlySet<string>;
  helpers: ReadonlySet<string>;
  icons: ReadonlySet<string>;
}

interface Source {
  name: string;
  text: string;
}

export class ViewJudge {
  readonly #offered: Offered;
  readonly #forms: readonly (string | null)[][];

  constructor(webDir: string, helpers: readonly string[], pages: readonly MountedPage[]) {
    const sprite = readFileSync(join(webDir, 'assets', 'icons.svg'), 'utf8');
    this.#offered = {
      partials: new Set(namesIn(join(webDir, 'partials'))),
      helpers: new Set([...helpers, 'asset', ...BUILT_IN]),
      icons: new Set([...sprite.matchAll(/\bid="i-([a-z0-9-]+)"/g)].map(([, id = '']) => id)),
    };
    const posts = pages.filter(({ spec }) => spec.method === 'POST').map(({ spec }) => spec.path);
    this.#forms = [...posts, ...OWN_FORMS].map(segmentsOf);
  }

  page({ spec }: MountedPage): string[] {
    const { nav, method = 'GET', path } = spec;
    if (nav === undefined || this.#offered.icons.has(nav.icon)) return [];
    return [`page ${method} ${path}: ${unknownIcon(nav.icon)}`];
  }

  /**
   * @param own first segments of the plugin's own pages: a form posted there must have a page that
   *   accepts it
   * @param plugin whose own partials the views may use
   */
  folder(views: string, own: ReadonlySet<string>, plugin: string): string[] {
    const parts = partsIn(views, plugin).map(({ name }) => name);
    const offered = { ...this.#offered, partials: new Set([...this.#offered.partials, ...parts]) };
    const names = existsSync(views) ? readdirSync(views, { recursive: true, encoding: 'utf8' }) : [];
    return names
      .filter((name) => name.endsWith('.hbs'))
      .map((name) => ({ name: `${basename(views)}/${name}`, text: readFileSync(join(views, name), 'utf8') }))
      .flatMap((source) => this.#view(source, own, offered));
  }

  #view(source: Source, own: ReadonlySet<string>, offered: Offered): string[] {
    let parsed: ReturnType<typeof Handlebars.parse>;
    try {
      parsed = Handlebars.parse(source.text);
    } catch (error) {
      return [`${source.name} cannot be read: ${(error as Error).message.replaceAll(/\s*\n\s*/g, ' ')}`];
    }
    const visitor = new Reader(offered);
    visitor.accept(parsed);
    const tags = visitor.faults.map(({ line, fault }) => `${source.name}:${line} ${fault}`);
    return [...tags, ...this.#formsOf(source, own), ...this.#actions(source, visitor.actions, own)];
  }

  /** A form that changes something must carry the CSRF token. */
  #formsOf({ name, text }: Source, own: ReadonlySet<string>): string[] {
    const faults: string[] = [];
    for (const { 0: tag, index } of text.matchAll(/<form\b[^>]*>/gi)) {
      if (!/\bmethod\s*=\s*["']?post\b/i.test(tag)) continue;
      const line = text.slice(0, index).split('\n').length;
      const end = text.indexOf('</form', index);
      const inside = text.slice(index, end === -1 ? text.length : end);
      if (!/\{\{~?>\s*csrf\b|name\s*=\s*["']csrf_token["']/.test(inside))
        faults.push(
          `${name}:${line} has a form without its token, which every visitor would be refused: write {{> csrf}} inside`,
        );
      const action = /\baction\s*=\s*"([^"]*)"/i.exec(tag)?.[1];
      if (action !== undefined) faults.push(...this.#actions({ name, text }, [{ line, action }], own));
    }
    return faults;
  }

  #actions({ name }: Source, actions: readonly Action[], own: ReadonlySet<string>): string[] {
    return actions
      .filter(({ action }) => action.startsWith('/'))
      .map(({ line, action }) => ({ line, path: action.replaceAll(/\{\{[^}]*\}\}/g, ANY).replace(/[?#].*$/, '') }))
      .filter(({ path }) => own.has(path.split('/')[1] ?? '') && !this.#taken(path))
      .map(
        ({ line, path }) =>
          `${name}:${line} sends a form to ${path.replaceAll(ANY, '…')}, where no page with method POST is: write its path, or add the page`,
      );
  }

  #taken(path: string): boolean {
    const given = segmentsOf(path);
    return this.#forms.some(
      (form) =>
        form.length === given.length &&
        form.every((segment, i) => segment === null || segment === given[i] || given[i]?.includes(ANY) === true),
    );
  }
}

interface Action {
  line: number;
  action: string;
}

const unknownIcon = (icon: string): string => `there is no icon "${icon}": web/README.md lists them`;
const segmentsOf = (path: string): (string | null)[] =>
  path.split('/').map((segment) => (segment.includes('{') ? null : segment));
const namesIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).map((file) => basename(file, '.hbs')) : [];

type Literal = hbs.AST.StringLiteral;
const isText = (node: hbs.AST.Node | undefined): node is Literal => node?.type === 'StringLiteral';

class Reader extends Handlebars.Visitor {
  readonly faults: { line: number; fault: string }[] = [];
  readonly actions: Action[] = [];
  readonly #inline = new Set<string>();

  constructor(private readonly offered: Offered) {
    super();
  }

  override DecoratorBlock(block: hbs.AST.DecoratorBlock): void {
    const [name] = block.params;
    if (isText(name)) this.#inline.add(name.value);
    super.DecoratorBlock(block);
  }

  override PartialStatement(partial: hbs.AST.PartialStatement): void {
    this.#partial(partial);
    super.PartialStatement(partial);
  }

  override PartialBlockStatement(partial: hbs.AST.PartialBlockStatement): void {
    this.#partial(partial);
    super.PartialBlockStatement(partial);
  }

  override MustacheStatement(mustache: hbs.AST.MustacheStatement): void {
    this.#helper(mustache, mustache.params.length > 0 || mustache.hash !== undefined);
    super.MustacheStatement(mustache);
  }

  override SubExpression(expression: hbs.AST.SubExpression): void {
    this.#helper(expression, true);
    super.SubExpression(expression);
  }

  override BlockStatement(block: hbs.AST.BlockStatement): void {
    this.#helper(block, block.params.length > 0);
    super.BlockStatement(block);
  }

  #partial({ name, hash, loc }: hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement): void {
    const { original } = name as hbs.AST.PathExpression;
    const pair = (key: string): string | null => {
      const value = hash?.pairs.find((one) => one.key === key)?.value;
      return isText(value) ? value.value : null;
    };
    if (typeof original !== 'string') return;
    const { partials, icons } = this.offered;
    if (original !== '@partial-block' && !partials.has(original) && !this.#inline.has(original))
      this.#say(loc, `uses the partial "${original}", which does not exist: there are ${[...partials].join(', ')}`);
    const icon = pair('icon');
    if (icon !== null && !icons.has(icon)) this.#say(loc, unknownIcon(icon));
    const action = original === 'confirm' ? pair('action') : null;
    if (action !== null) this.actions.push({ line: loc.start.line, action });
  }

  #helper(node: hbs.AST.MustacheStatement | hbs.AST.SubExpression | hbs.AST.BlockStatement, certain: boolean): void {
    const { original } = node.path as hbs.AST.PathExpression;
    if (typeof original !== 'string') return;
    if (certain && !this.offered.helpers.has(original))
      this.#say(node.loc, `uses the helper "${original}", which does not exist: web/README.md lists them`);
    const [first] = node.params;
    if (original === 'icon' && isText(first) && !this.offered.icons.has(first.value))
      this.#say(node.loc, unknownIcon(first.value));
  }

  #say(loc: hbs.AST.SourceLocation, fault: string): void {
    this.faults.push({ line: loc.start.line, fault });
  }
}
