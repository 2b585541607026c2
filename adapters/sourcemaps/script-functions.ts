/**
 * A map gives the name at a position; only the syntax tells which name belongs to the surrounding
 * function.
 */
import { Parser, type Node, type Options } from 'acorn';
import { SourceMapRejected } from '../../ports/source-map-reader.js';
import { UPLOAD_LIMITS } from './limits.js';
import type { BudgetCheck } from './cpu-budget.js';

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
type LooseNode = Node & Record<string, unknown> & { weight?: number };

const isNode = (value: unknown): value is LooseNode =>
  value !== null && typeof value === 'object' && typeof (value as { type?: unknown }).type === 'string';

const PARSER_OPTIONS: Options = {
  ecmaVersion: 'latest',
  allowAwaitOutsideFunction: true,
  allowHashBang: true,
  allowImportExportEverywhere: true,
  allowReturnOutsideFunction: true,
  allowSuperOutsideMethod: true,
};
const BUDGET_CHECK_NODES = 4_096;
const FUNCTION_TYPES = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const CLASS_TYPES = new Set(['ClassDeclaration', 'ClassExpression']);
const MEMBER_TYPES = new Set(['Property', 'MethodDefinition', 'PropertyDefinition']);
const PLACEHOLDER_NODE = { type: 'EmptyStatement', start: 0, end: 0 } as unknown as LooseNode;

/** @returns null when the script cannot be parsed within its limits */
export function parseFunctions(script: string, spend: BudgetCheck): ScriptFunctions | null {
  for (const sourceType of ['module', 'script'] as const) {
    const found = new FunctionRecorder(spend);
    try {
      createParser(found).parse(script, { ...PARSER_OPTIONS, sourceType });
      return new ScriptFunctions(found);
    } catch (error) {
      // Only a syntax error justifies the other mode, not a deep stack or an exceeded limit.
      if (!(error instanceof SyntaxError)) return null;
    }
  }
  return null;
}

/** Functions recorded from nodes; the fields of a function share one index in all lists. */
class FunctionRecorder {
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly names: (NamePlace | null)[] = [];
  readonly owners: (NamePlace | null)[] = [];
  #nodes = 0;
  #held = 0;

  constructor(private readonly spend: BudgetCheck) {}

  record(node: LooseNode): void {
    if (++this.#nodes % BUDGET_CHECK_NODES === 0) this.spend();
    if (this.#held > UPLOAD_LIMITS.heldNodes) throw new SourceMapRejected('has a script with lists that are too long');
    const { type } = node;
    if (FUNCTION_TYPES.has(type)) this.#recordFunction(node);
    else if (type === 'VariableDeclarator') this.#setName(node['init'], getIdentifierName(node['id']));
    else if (type === 'AssignmentExpression') this.#setName(node['right'], getAssignedName(node['left']));
    else if (MEMBER_TYPES.has(type)) this.#setName(node['value'], getMemberName(node['key'], node['computed']));
    else if (type === 'ClassBody') node['methods'] = getMethods(node['body']);
    else if (CLASS_TYPES.has(type)) {
      node['methods'] = isNode(node['body']) ? node['body']['methods'] : [];
      if (isNode(node['id'])) this.#setOwner(node, getIdentifierName(node['id']));
    }
    this.#held += 1 - releaseChildren(node);
  }

  #recordFunction(node: LooseNode): void {
    if (this.starts.length === UPLOAD_LIMITS.functions)
      throw new SourceMapRejected('has a script with too many functions');
    node['number'] = this.starts.length;
    this.starts.push(node.start);
    this.ends.push(node.end);
    this.names.push(getIdentifierName(node['id']));
    this.owners.push(null);
  }

  #setName(child: unknown, name: NamePlace | null): void {
    if (!isNode(child) || name === null) return;
    const number = child['number'];
    if (typeof number === 'number') this.names[number] ??= name;
    else if (CLASS_TYPES.has(child.type) && !isNode(child['id'])) this.#setOwner(child, name);
  }

  #setOwner({ methods }: LooseNode, owner: NamePlace | null): void {
    for (const number of methods as number[]) this.owners[number] = owner;
  }
}

const getIdentifierName = (node: unknown): NamePlace | null =>
  isNode(node) && node.type === 'Identifier' ? { offset: node.start, text: null } : null;

function getAssignedName(left: unknown): NamePlace | null {
  if (!isNode(left)) return null;
  return left.type === 'MemberExpression' ? getMemberName(left['property'], left['computed']) : getIdentifierName(left);
}

function getMemberName(key: unknown, computed: unknown): NamePlace | null {
  if (!isNode(key) || computed === true) return null;
  const name = key['name'];
  if (typeof name !== 'string') return null;
  return { offset: key.start, text: key.type === 'PrivateIdentifier' ? `#${name}` : name };
}

const getMethods = (body: unknown): number[] =>
  (body as LooseNode[]).flatMap((element) => {
    const number = MEMBER_TYPES.has(element.type) && isNode(element['value']) ? element['value']['number'] : null;
    return typeof number === 'number' ? [number] : [];
  });

/** Read again after their node is complete, or naming a parent. */
const RETAINED_FIELDS: Readonly<Record<string, readonly string[]>> = {
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

function releaseChildren(node: LooseNode): number {
  const retainedFields = RETAINED_FIELDS[node.type] ?? [];
  let gone = 0;
  node.weight = 1;
  for (const name in node) {
    const value = node[name];
    if (value === null || typeof value !== 'object' || name === 'methods') continue;
    const held = Array.isArray(value) ? sumWeights(value) : getWeight(value);
    // A directive at the beginning of a function is read again.
    if (retainedFields.includes(name) || (node.type === 'ExpressionStatement' && isLiteral(value))) node.weight += held;
    else {
      gone += held;
      // Members of a potential pattern have already been checked.
      if (Array.isArray(value)) node[name] = [];
      else if (isNode(value)) node[name] = PLACEHOLDER_NODE;
    }
  }
  return gone;
}

const isLiteral = (value: unknown): boolean => isNode(value) && value.type === 'Literal';
const getWeight = (value: unknown): number => (isNode(value) && value !== PLACEHOLDER_NODE ? (value.weight ?? 1) : 0);
const sumWeights = (values: readonly unknown[]): number =>
  values.reduce<number>((sum, value) => sum + getWeight(value), 0);

interface ParserInternals {
  parse(): Node;
  finishNode(node: Node, type: string): Node;
  finishNodeAt(node: Node, type: string, end: number, loc: unknown): Node;
  parseStatement(context: string | null, topLevel?: boolean, exports?: unknown): Node;
}

function createParser(notes: FunctionRecorder): typeof Parser {
  return Parser.extend((base) => {
    const Base = base as unknown as new (...args: unknown[]) => ParserInternals;
    class NotingParser extends Base {
      override finishNode(node: Node, type: string): Node {
        const made = super.finishNode(node, type);
        notes.record(made as LooseNode);
        return made;
      }

      override finishNodeAt(node: Node, type: string, end: number, loc: unknown): Node {
        const made = super.finishNodeAt(node, type, end, loc);
        notes.record(made as LooseNode);
        return made;
      }

      /** Completed statements share one placeholder node, except directives. */
      override parseStatement(context: string | null, topLevel?: boolean, exports?: unknown): Node {
        const made = super.parseStatement(context, topLevel, exports) as LooseNode;
        const isDirective = made.type === 'ExpressionStatement' && made['expression'] !== PLACEHOLDER_NODE;
        return isDirective ? made : PLACEHOLDER_NODE;
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

  constructor({ starts, ends, names, owners }: FunctionRecorder) {
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

  findAt(offset: number): ScriptFunction | null {
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
