import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type Handlebars from 'handlebars';
import { handlebars } from './template-cache.js';
import type { MountedPage } from '../../../ports/http/index.js';
import { listPluginPartials } from './view-renderer.js';

const BUILT_IN_HELPERS = ['if', 'unless', 'each', 'with', 'lookup', 'log', 'helperMissing', 'blockHelperMissing'];
const ANY_SEGMENT = '\u0000';
const LAYOUT_FORM_PATHS = ['/theme', '/logout', '/project-choice'];

interface AvailableNames {
  partials: ReadonlySet<string>;
  helpers: ReadonlySet<string>;
  icons: ReadonlySet<string>;
}

interface ViewSource {
  name: string;
  text: string;
}

export class ViewValidator {
  readonly #offered: AvailableNames;
  readonly #forms: readonly (string | null)[][];

  constructor(webDir: string, helpers: readonly string[], pages: readonly MountedPage[]) {
    const sprite = readFileSync(join(webDir, 'assets', 'icons.svg'), 'utf8');
    this.#offered = {
      partials: new Set(listNames(join(webDir, 'partials'))),
      helpers: new Set([...helpers, 'asset', ...BUILT_IN_HELPERS]),
      icons: new Set([...sprite.matchAll(/\bid="i-([a-z0-9-]+)"/g)].map(([, id = '']) => id)),
    };
    const posts = pages.filter(({ spec }) => spec.method === 'POST').map(({ spec }) => spec.path);
    this.#forms = [...posts, ...LAYOUT_FORM_PATHS].map(splitPath);
  }

  validatePage({ spec }: MountedPage): string[] {
    const { nav, method = 'GET', path } = spec;
    if (nav === undefined || this.#offered.icons.has(nav.icon)) return [];
    return [`page ${method} ${path}: ${formatUnknownIcon(nav.icon)}`];
  }

  /**
   * @param own first segments of the plugin's own pages: a form posted there must have a page that
   *   accepts it
   * @param plugin whose own partials the views may use
   */
  validateFolder(views: string, own: ReadonlySet<string>, plugin: string): string[] {
    const parts = listPluginPartials(views, plugin).map(({ name }) => name);
    const offered = { ...this.#offered, partials: new Set([...this.#offered.partials, ...parts]) };
    const names = existsSync(views) ? readdirSync(views, { recursive: true, encoding: 'utf8' }) : [];
    return names
      .filter((name) => name.endsWith('.hbs'))
      .map((name) => ({ name: `${basename(views)}/${name}`, text: readFileSync(join(views, name), 'utf8') }))
      .flatMap((source) => this.#validateView(source, own, offered));
  }

  #validateView(source: ViewSource, own: ReadonlySet<string>, offered: AvailableNames): string[] {
    let parsed: ReturnType<typeof Handlebars.parse>;
    try {
      parsed = handlebars.parse(source.text);
    } catch (error) {
      return [`${source.name} cannot be read: ${(error as Error).message.replaceAll(/\s*\n\s*/g, ' ')}`];
    }
    const visitor = new TemplateVisitor(offered);
    visitor.accept(parsed);
    const tags = visitor.faults.map(({ line, fault }) => `${source.name}:${line} ${fault}`);
    return [...tags, ...this.#validateForms(source, own), ...this.#validateActions(source, visitor.actions, own)];
  }

  /** A form that changes something must carry the CSRF token. */
  #validateForms({ name, text }: ViewSource, own: ReadonlySet<string>): string[] {
    const faults: string[] = [];
    for (const { 0: tag, index } of text.matchAll(/<form\b[^>]*>/gi)) {
      if (!/\bmethod\s*=\s*["']?post\b/i.test(tag)) continue;
      const line = text.slice(0, index).split('\n').length;
      const end = text.indexOf('</form', index);
      const inside = text.slice(index, end === -1 ? text.length : end);
      if (!/\{\{~?>\s*csrf\b|name\s*=\s*["']csrf_token["']/.test(inside))
        faults.push(
          `${name}:${line} has a form without its token, so every submission would be rejected: add {{> csrf}} to it`,
        );
      const action = /\baction\s*=\s*"([^"]*)"/i.exec(tag)?.[1];
      if (action !== undefined) faults.push(...this.#validateActions({ name, text }, [{ line, action }], own));
    }
    return faults;
  }

  #validateActions({ name }: ViewSource, actions: readonly FormAction[], own: ReadonlySet<string>): string[] {
    return actions
      .filter(({ action }) => action.startsWith('/'))
      .map(({ line, action }) => ({
        line,
        path: action.replaceAll(/\{\{[^}]*\}\}/g, ANY_SEGMENT).replace(/[?#].*$/, ''),
      }))
      .filter(({ path }) => own.has(path.split('/')[1] ?? '') && !this.#acceptsForm(path))
      .map(
        ({ line, path }) =>
          `${name}:${line} sends a form to ${path.replaceAll(ANY_SEGMENT, '…')}, which has no page with method POST: fix the path, or add the page`,
      );
  }

  #acceptsForm(path: string): boolean {
    const given = splitPath(path);
    return this.#forms.some(
      (form) =>
        form.length === given.length &&
        form.every(
          (segment, i) => segment === null || segment === given[i] || given[i]?.includes(ANY_SEGMENT) === true,
        ),
    );
  }
}

interface FormAction {
  line: number;
  action: string;
}

const formatUnknownIcon = (icon: string): string => `icon "${icon}" does not exist: web/README.md lists them`;
const splitPath = (path: string): (string | null)[] =>
  path.split('/').map((segment) => (segment.includes('{') ? null : segment));
const listNames = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).map((file) => basename(file, '.hbs')) : [];

type Literal = hbs.AST.StringLiteral;
const isStringLiteral = (node: hbs.AST.Node | undefined): node is Literal => node?.type === 'StringLiteral';

class TemplateVisitor extends handlebars.Visitor {
  readonly faults: { line: number; fault: string }[] = [];
  readonly actions: FormAction[] = [];
  readonly #inline = new Set<string>();

  constructor(private readonly offered: AvailableNames) {
    super();
  }

  override DecoratorBlock(block: hbs.AST.DecoratorBlock): void {
    const [name] = block.params;
    if (isStringLiteral(name)) this.#inline.add(name.value);
    super.DecoratorBlock(block);
  }

  override PartialStatement(partial: hbs.AST.PartialStatement): void {
    this.#visitPartial(partial);
    super.PartialStatement(partial);
  }

  override PartialBlockStatement(partial: hbs.AST.PartialBlockStatement): void {
    this.#visitPartial(partial);
    super.PartialBlockStatement(partial);
  }

  override MustacheStatement(mustache: hbs.AST.MustacheStatement): void {
    this.#visitHelper(mustache, mustache.params.length > 0 || mustache.hash !== undefined);
    super.MustacheStatement(mustache);
  }

  override SubExpression(expression: hbs.AST.SubExpression): void {
    this.#visitHelper(expression, true);
    super.SubExpression(expression);
  }

  override BlockStatement(block: hbs.AST.BlockStatement): void {
    this.#visitHelper(block, block.params.length > 0);
    super.BlockStatement(block);
  }

  #visitPartial({ name, hash, loc }: hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement): void {
    const { original } = name as hbs.AST.PathExpression;
    const pair = (key: string): string | null => {
      const value = hash?.pairs.find((one) => one.key === key)?.value;
      return isStringLiteral(value) ? value.value : null;
    };
    if (typeof original !== 'string') return;
    const { partials, icons } = this.offered;
    if (original !== '@partial-block' && !partials.has(original) && !this.#inline.has(original))
      this.#addFault(
        loc,
        `uses the partial "${original}", which does not exist; available partials: ${[...partials].join(', ')}`,
      );
    const icon = pair('icon');
    if (icon !== null && !icons.has(icon)) this.#addFault(loc, formatUnknownIcon(icon));
    const action = original === 'confirm' ? pair('action') : null;
    if (action !== null) this.actions.push({ line: loc.start.line, action });
  }

  #visitHelper(
    node: hbs.AST.MustacheStatement | hbs.AST.SubExpression | hbs.AST.BlockStatement,
    certain: boolean,
  ): void {
    const { original } = node.path as hbs.AST.PathExpression;
    if (typeof original !== 'string') return;
    if (certain && !this.offered.helpers.has(original))
      this.#addFault(node.loc, `uses the helper "${original}", which does not exist: web/README.md lists them`);
    const [first] = node.params;
    if (original === 'icon' && isStringLiteral(first) && !this.offered.icons.has(first.value))
      this.#addFault(node.loc, formatUnknownIcon(first.value));
  }

  #addFault(loc: hbs.AST.SourceLocation, fault: string): void {
    this.faults.push({ line: loc.start.line, fault });
  }
}
