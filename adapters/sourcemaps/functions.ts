/**
 * Finds the functions of a minified script and the positions of their original names. A map gives
 * the name at a position; only the syntax tells which name belongs to the surrounding function.
 * Each node is dropped once its functions are recorded, to save memory.
 */
import { Parser, type Node, type Options } from 'acorn';
import { MapRefused } from '../../ports/source-maps/reader.js';
import { LIMITS } from './limits.js';
import type { Spend } from './spend.js';

/**
 * Position of a name in the script, with its text when it is a member, which minifiers do not
 * rename.
 */
export interface NamePlace {
  offset: number;
  text: string | null;
}

export interface ScriptFunction {
  name: NamePlace | null;
  owner: NamePlace | null;
  constructs: boolean;
}

/** `weight`: number of nodes in the subtree, including this one. */
type Loose = Node & Record<string, unknown> & { weight?: number };

const isNode = (value: unknown): value is Loose =>
  value !== null && typeof value === 'object' && typeof (value as { type?: unknown }).type === 'string';

const OPTIONS: Options = {
  ecmaVersion: 'latest',
  allowAwaitOutsideFunction: true,
  allowHashBang: true,
  allowImportExportEverywhere: true,
  allowReturnOutsideFunction: true,
  allowSuperOutsideMethod: true,
};
const SPEND_EVERY = 4_096;
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const CLASSES = new Set(['ClassDeclaration', 'ClassExpression']);
const MEMBERS = new Set(['Property', 'MethodDefinition', 'PropertyDefinition']);
const NOTHING = { type: 'EmptyStatement', start: 0, end: 0 } as unknown as Loose;

/** @returns null when the script cannot be parsed within its limits */
export function functionsOf(script: string, spend: Spend): ScriptFunctions | null {
  for (const sourceType of ['module', 'script'] as const) {
    const found = new FunctionNotes(spend);
    try {
      parserWith(found).parse(script, { ...OPTIONS, sourceType });
      return new ScriptFunctions(found);
    } catch (error) {
      // Only a syntax error justifies the other mode, not a deep stack or an exceeded limit.
      if (!(error instanceof SyntaxError)) return null;
    }
  }
  return null;
}

/** Functions recorded from nodes; the fields of a function share one index in all lists. */
class FunctionNotes {
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly names: (NamePlace | null)[] = [];
  readonly owners: (NamePlace | null)[] = [];
  #nodes = 0;
  #held = 0;

  constructor(private readonly spend: Spend) {}

  finish(node: Loose): void {
    if (++this.#nodes % SPEND_EVERY === 0) this.spend();
    if (this.#held > LIMITS.heldNodes) throw new MapRefused('has a script with lists that are too long');
    const { type } = node;
    if (FUNCTIONS.has(type)) this.#function(node);
    else if (type === 'VariableDeclarator') this.#name(node['init'], identifier(node['id']));
    else if (type === 'AssignmentExpression') this.#name(node['right'], assigned(node['left']));
    else if (MEMBERS.has(type)) this.#name(node['value'], member(node['key'], node['computed']));
    else if (type === 'ClassBody') node['methods'] = methodsOf(node['body']);
    else if (CLASSES.has(type)) {
      node['methods'] = isNode(node['body']) ? node['body']['methods'] : [];
      if (isNode(node['id'])) this.#own(node, identifier(node['id']));
    }
    this.#held += 1 - forget(node);
  }

  #function(node: Loose): void {
    if (this.starts.length === LIMITS.functions) throw new MapRefused('has a script with too many functions');
    node['number'] = this.starts.length;
    this.starts.push(node.start);
    this.ends.push(node.end);
    this.names.push(identifier(node['id']));
    this.owners.push(null);
  }

  #name(child: unknown, name: NamePlace | null): void {
    if (!isNode(child) || name === null) return;
    const number = child['number'];
    if (typeof number === 'number') this.names[number] ??= name;
    else if (CLASSES.has(child.type) && !isNode(child['id'])) this.#own(child, name);
  }

  #own({ methods }: Loose, owner: NamePlace | null): void {
    for (const number of methods as number[]) this.owners[number] = owner;
  }
}

const identifier = (node: unknown): NamePlace | null =>
  isNode(node) && node.type === 'Identifier' ? { offset: node.start, text: null } : null;

function assigned(left: unknown): NamePlace | null {
  if (!isNode(left)) return null;
  return left.type === 'MemberExpression' ? member(left['property'], left['computed']) : identifier(left);
}

function member(key: unknown, computed: unknown): NamePlace | null {
  if (!isNode(key) || computed === true) return null;
  const name = key['name'];
  if (typeof name !== 'string') return null;
  return { offset: key.start, text: key.type === 'PrivateIdentifier' ? `#${name}` : name };
}

const methodsOf = (body: unknown): number[] =>
  (body as Loose[]).flatMap((element) => {
    const number = MEMBERS.has(element.type) && isNode(element['value']) ? element['value']['number'] : null;
    return typeof number === 'number' ? [number] : [];
  });

/** Fields that the parser reads again after their node is complete, or that name a parent. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  AssignmentExpression: ['left'],
  AssignmentPattern: ['left'],
  ArrayPattern: ['elements'],
  ChainExpression: ['expression'],
  ClassExpression: ['id'],
  ExportSpecifier: ['local', 'exported'],
  FunctionExpression: ['params'],
  ImportSpecifier: ['local', 'imported'],
  MemberExpression: ['property'],
  MethodDefinition: ['key', 'value'],
  ObjectPattern: ['properties'],
  Property: ['key', 'value'],
  PropertyDefinition: ['key', 'value'],
  RestElement: ['argument'],
  SpreadElement: ['argument'],
  VariableDeclaration: ['declarations'],
  VariableDeclarator: ['id'],
};

function forget(node: Loose): number {
  const kept = KEPT[node.type] ?? [];
  let gone = 0;
  node.weight = 1;
  for (const name in node) {
    const value = node[name];
    if (value === null || typeof value !== 'object' || name === 'methods') continue;
    const held = Array.isArray(value) ? sumOf(value) : weightOf(value);
    // A directive at the beginning of a function is read again.
    if (kept.includes(name) || (node.type === 'ExpressionStatement' && isLiteral(value))) node.weight += held;
    else {
      gone += held;
      // Members of a potential pattern have already been checked.
      if (Array.isArray(value)) node[name] = [];
      else if (isNode(value)) node[name] = NOTHING;
    }
  }
  return gone;
}

const isLiteral = (value: unknown): boolean => isNode(value) && value.type === 'Literal';
const weightOf = (value: unknown): number => (isNode(value) && value !== NOTHING ? (value.weight ?? 1) : 0);
const sumOf = (values: readonly unknown[]): number => values.reduce<number>((sum, value) => sum + weightOf(value), 0);

interface Internals {
  parse(): Node;
  finishNode(node: Node, type: string): Node;
  finishNodeAt(node: Node, type: string, end: number, loc: unknown): Node;
  parseStatement(context: string | null, topLevel?: boolean, exports?: unknown): Node;
}

function parserWith(notes: FunctionNotes): typeof Parser {
  return Parser.extend((base) => {
    const Base = base as unknown as new (...args: unknown[]) => Internals;
    class NotingParser extends Base {
      override finishNode(node: Node, type: string): Node {
        const made = super.finishNode(node, type);
        notes.finish(made as Loose);
        return made;
      }

      override finishNodeAt(node: Node, type: string, end: number, loc: unknown): Node {
        const made = super.finishNodeAt(node, type, end, loc);
        notes.finish(made as Loose);
        return made;
      }

      /** Completed statements share one placeholder node, except directives. */
      override parseStatement(context: string | null, topLevel?: boolean, exports?: unknown): Node {
        const made = super.parseStatement(context, topLevel, exports) as Loose;
        const isDirective = made.type === 'ExpressionStatement' && made['expression'] !== NOTHING;
        return isDirective ? made : NOTHING;
      }

      /** Exported variables and classes are read again. */
      parseExportDeclaration(): Node {
        return super.parseStatement(null);
      }

      // Skips the check for duplicate names and missing exports, which is quadratic and not needed
      // here.
      declareName(): void {}
      checkExport(): void {}
      checkVariableExport(): void {}
      checkLocalExport(): void {}
      validateRegExpFlags(): void {}
      validateRegExpPattern(): void {}
    }
    return NotingParser as unknown as typeof Parser;
  });
}

export class ScriptFunctions {
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  /** Index of the enclosing function; -1 for none. */
  readonly #around: Int32Array;
  readonly #functions: readonly ScriptFunction[];

  constructor({ starts, ends, names, owners }: FunctionNotes) {
    const order = starts.map((_, i) => i).sort((a, b) => (starts[a] ?? 0) - (starts[b] ?? 0));
    this.#starts = Int32Array.from(order, (i) => starts[i] ?? 0);
    this.#ends = Int32Array.from(order, (i) => ends[i] ?? 0);
    this.#functions = order.map((i) => {
      const [name = null, owner = null] = [names[i], owners[i]];
      return { name, owner, constructs: owner !== null && name?.text === 'constructor' };
    });
    this.#around = new Int32Array(order.length);
    let open = -1;
    for (let i = 0; i < order.length; i++) {
      while (open >= 0 && (this.#ends[open] ?? 0) <= (this.#starts[i] ?? 0)) open = this.#around[open] ?? -1;
      this.#around[i] = open;
      open = i;
    }
  }

  get bytes(): number {
    return this.#functions.length * 200;
  }

  at(offset: number): ScriptFunction | null {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    let found = low - 1;
    while (found >= 0 && offset >= (this.#ends[found] ?? 0)) found = this.#around[found] ?? -1;
    return this.#functions[found] ?? null;
  }
}
