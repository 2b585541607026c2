/**
 * The functions of a minified script, and where the names are that people gave them: a map says what the name at a
 * place was, and only the script's syntax says which name belongs to the function around a position. Parsed by acorn;
 * walked without recursion, since whoever sends a script chooses how deep it is. Pure.
 */
import { parse, type Node, type Options } from 'acorn';

/** Where a name stands in the script, and the text there where it is a member's, which no minifier changes. */
interface NamePlace {
  offset: number;
  text: string | null;
}

export interface ScriptFunction {
  /** UTF-16 units from the beginning of the script. */
  start: number;
  end: number;
  name: NamePlace | null;
  /** Of a method: its class. */
  owner: NamePlace | null;
  constructs: boolean;
}

type Loose = Node & Readonly<Record<string, unknown>>;

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

/** In the order of their starts; null: the script is none that can be read. */
export function functionsOf(script: string): ScriptFunction[] | null {
  for (const sourceType of ['module', 'script'] as const) {
    try {
      return collected(parse(script, { ...OPTIONS, sourceType }));
    } catch (error) {
      // The syntax of the one is not the other's. A stack that is too deep is no other's either.
      if (!(error instanceof SyntaxError)) return null;
    }
  }
  return null;
}

interface Visit {
  node: Loose;
  name: NamePlace | null;
  owner: NamePlace | null;
}

function collected(root: Node): ScriptFunction[] {
  const found: ScriptFunction[] = [];
  const rest: Visit[] = [{ node: root as Loose, name: null, owner: null }];
  for (let visit = rest.pop(); visit !== undefined; visit = rest.pop()) {
    const { node, name, owner } = visit;
    if (FUNCTIONS.has(node.type)) {
      const own = isNode(node['id']) ? identifier(node['id']) : name;
      found.push({
        start: node.start,
        end: node.end,
        name: own,
        owner,
        constructs: owner !== null && isConstructor(own),
      });
    }
    for (const [key, value] of Object.entries(node)) {
      if (Array.isArray(value)) for (const each of value) push(rest, visit, key, each);
      else push(rest, visit, key, value);
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const CLASSES = new Set(['ClassDeclaration', 'ClassExpression']);
const isConstructor = (name: NamePlace | null): boolean => name?.text === 'constructor';

const identifier = (node: Loose): NamePlace => ({ offset: node.start, text: null });

/** The name of a member; null where it is computed. */
function member(key: unknown, computed: unknown): NamePlace | null {
  if (!isNode(key) || computed === true) return null;
  const name = key['name'];
  if (typeof name !== 'string') return null;
  return { offset: key.start, text: key.type === 'PrivateIdentifier' ? `#${name}` : name };
}

/** What the parent calls the child. */
function push(rest: Visit[], { node, name, owner }: Visit, key: string, child: unknown): void {
  if (!isNode(child)) return;
  let given: NamePlace | null = null;
  let of: NamePlace | null = null;
  if (node.type === 'VariableDeclarator' && key === 'init' && isNode(node['id'])) {
    given = node['id'].type === 'Identifier' ? identifier(node['id']) : null;
  } else if (node.type === 'AssignmentExpression' && key === 'right' && isNode(node['left'])) {
    const left = node['left'];
    if (left.type === 'Identifier') given = identifier(left);
    else if (left.type === 'MemberExpression') given = member(left['property'], left['computed']);
  } else if (key === 'value' && MEMBERS.has(node.type)) {
    given = member(node['key'], node['computed']);
    // What surrounds a member of a class body is the class.
    of = node.type === 'Property' ? null : owner;
  } else if (key === 'body' && CLASSES.has(node.type)) {
    of = isNode(node['id']) ? identifier(node['id']) : name;
  } else if (node.type === 'ClassBody') {
    of = owner;
  }
  rest.push({ node: child, name: given, owner: of });
}

const MEMBERS = new Set(['Property', 'MethodDefinition', 'PropertyDefinition']);

/** The innermost function around an offset. */
export function functionAt(functions: readonly ScriptFunction[], offset: number): ScriptFunction | null {
  let found: ScriptFunction | null = null;
  for (const each of functions) {
    if (each.start > offset) break;
    if (offset < each.end) found = each;
  }
  return found;
}
