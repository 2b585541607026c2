/**
 * Formats frames like the language itself, or like V8 when the application frame lacks data for its
 * language's format. The message is omitted, because it could look like a frame.
 */
import { headingOf, type Relation, type Thrown } from './chain.js';
import { maskNamesInText } from '../../lib/text/generated-names.js';
import { ownFrame, type StackFrame } from './frames.js';

export interface Stack {
  text: string;
  file: string | null;
  line: number | null;
  function: string | null;
}

interface Form {
  fits(own: StackFrame): boolean;
  write(frame: StackFrame): string;
  file(frame: StackFrame): string | null;
}

const GENERIC: Form = {
  fits: () => true,
  write: ({ place, function: name, line, column }) => {
    // A place without a line number would not be parsed as a place.
    const where = place === null ? '<anonymous>' : `${place}:${line ?? 0}${column === null ? '' : `:${column}`}`;
    return name === null ? `    at ${where}` : `    at ${name.replaceAll(' (', '(')} (${where})`;
  },
  file: ({ place }) => place,
};

/** `File "cart.py", line 41, in total`, followed by the source line. */
const PYTHON: Form = {
  fits: ({ place }) => place !== null,
  write: ({ place, absPath, inApp, function: name, line, code }) => {
    if (place === null) return `  in ${name ?? '?'}`;
    // `json/decoder.py` alone does not identify the package.
    const path = inApp === false ? (absPath ?? place) : place;
    const head = `  File "${path.replaceAll('"', "'")}", line ${line ?? 0}, in ${name ?? '<module>'}`;
    // Source text that looks like a frame would be parsed as one.
    return code === null || code.includes('File "') ? head : `${head}\n    ${code.trim()}`;
  },
  file: ({ place }) => place,
};

const JAVA_FILE = /^[\w$.-]{1,200}\.[A-Za-z]{1,10}$/;
/** The last segment needs more than `$`, because it names the file. */
const JAVA_CLASS = /^(?:[\w$]{1,200}\.){0,30}\$*\w[\w$]{0,199}$/;
const JAVA_METHOD = /^[\w$<>-]{1,300}$/;
const hasJavaFile = ({ file }: StackFrame): boolean => file !== null && JAVA_FILE.test(file);

/**
 * `com.acme.Cart.total(Cart.java:41)`. Package and file form the place, as in Java's own traces.
 */
const JAVA: Form = {
  fits: ({ module, function: name }) => JAVA_CLASS.test(module ?? '') && JAVA_METHOD.test(name ?? ''),
  write: (frame) => {
    const { module, function: name, file, line } = frame;
    const number = line === null ? '' : `:${line}`;
    // Java's own text for an unknown file.
    const source = hasJavaFile(frame) ? `${file}${number}` : number === '' ? 'Unknown Source' : `SourceFile${number}`;
    return `\tat ${module === null ? '' : `${module}.`}${name ?? '?'}(${source})`;
  },
  file: (frame) => {
    const parts = maskNamesInText(frame.module ?? '').split('.');
    const type = parts.pop() ?? '';
    const named = type.split('$').find((part) => part !== '') ?? type;
    return [...parts, hasJavaFile(frame) ? frame.file : `${named}.java`].join('/');
  },
};

const GO_FILE = /^[^ ]+\.go$/;
/** Frames that the Go trace parser skips. */
const GO_RUNTIME = /(?:^|\/src\/)runtime\//;

/** The function on its own line, the place below it. */
const GO: Form = {
  fits: ({ place, module }) => GO_FILE.test(place ?? '') && !GO_RUNTIME.test(place ?? '') && module !== 'runtime',
  write: ({ module, function: name, place, line }) =>
    `${module === null ? '' : `${module}.`}${name ?? '?'}(...)\n\t${place ?? '?'}:${line ?? 0}`,
  file: ({ place }) => place,
};

const NET_NAME = /^[\p{L}_<][\p{L}\p{N}_.`<>+$|,[\]@&-]*$/u;
const NET_PATH = /^(?:[A-Za-z]:)?[\\/]|^[\p{L}\p{N}_.-]{1,100}[\\/]/u;

const NET_NAME_LENGTH = 1000;
/**
 * Newer SDKs send `decimal Cart.Total`. The return type is removed, as is the type, which the
 * module already names.
 */
const NET_SPOKEN = /^.*[^,]\s(?=\S)/u;

const netName = ({ module, function: name }: StackFrame): string => {
  const given = (name ?? '').slice(0, NET_NAME_LENGTH).split('(', 1)[0]?.trim() ?? '';
  const spoken = given.replace(NET_SPOKEN, '');
  const method = spoken === given || module === null ? spoken : spoken.slice(spoken.lastIndexOf('.') + 1);
  return module === null || method.startsWith(`${module}.`) ? method : `${module}.${method}`;
};
const netPath = ({ file, absPath }: StackFrame): string | null =>
  [file, absPath].find((path) => path !== null && NET_PATH.test(path)) ?? null;

/** `at Acme.Cart.Total() in /src/Cart.cs:line 41`. Without a file the method is the place. */
const DOTNET: Form = {
  fits: (own) => {
    const name = netName(own);
    return NET_NAME.test(name) && name.includes('.') && (netPath(own) !== null || own.file === null);
  },
  write: (frame) => {
    const path = netPath(frame);
    return `   at ${netName(frame)}()${path === null ? '' : ` in ${path}:line ${frame.line ?? 0}`}`;
  },
  file: (frame) => netPath(frame) ?? frame.module,
};

const FORMS: Readonly<Record<string, Form>> = { python: PYTHON, java: JAVA, go: GO, csharp: DOTNET };

export function stackOf(chain: readonly Thrown[], platform: string | null): Stack | null {
  const frames = framesIn(chain);
  const own = ownFrame(frames);
  if (own === null) return null;
  const form = formOf(own, platform);
  const text = form === PYTHON ? innermostLast(chain) : outermostFirst(chain, form);
  return { text, file: form.file(own), line: own.line, function: functionName(own, platform) };
}

function formOf(own: StackFrame, platform: string | null): Form {
  const native = Object.hasOwn(FORMS, platform ?? '') ? FORMS[platform ?? ''] : undefined;
  return native?.fits(own) ? native : GENERIC;
}

export function placeOf(frames: readonly StackFrame[], platform: string | null): Pick<Stack, 'file' | 'function'> {
  const own = ownFrame(frames);
  if (own === null) return { file: null, function: null };
  return { file: formOf(own, platform).file(own), function: functionName(own, platform) };
}

const TYPED = new Set(['java', 'csharp', 'kotlin', 'scala', 'groovy', 'dart']);

/**
 * Returns the function, qualified by its class when the file does not determine it: inner classes,
 * coroutines and state machines.
 */
function functionName(frame: StackFrame, platform: string | null): string | null {
  const { function: name, file } = frame;
  if (name === null || frame.module === null || !TYPED.has(platform ?? '')) return name;
  // Java's hidden classes have a slash in their name.
  const module = frame.module.includes('/') ? maskNamesInText(frame.module) : frame.module;
  const type = module.slice(module.search(/[^./]*$/));
  const outer = file?.replace(/^.*[\\/]/, '').replace(/\.\w+$/, '');
  if (outer === undefined || type === outer || type === `${outer}Kt` || name.startsWith(`${type}.`)) return name;
  // The class that the file is named after is redundant.
  const inner = type.startsWith(`${outer}$`) || type.startsWith(`${outer}+`) ? type.slice(outer.length + 1) : type;
  // The preceding character identifies the number of an anonymous class.
  return `${/^\d/.test(inner) ? type : inner}.${name}`;
}

export const framesIn = (chain: readonly Thrown[]): readonly StackFrame[] =>
  chain.find(({ frames }) => frames.length > 0)?.frames ?? [];

const RELATIONS: Readonly<Record<Relation, string>> = {
  cause: 'Caused by',
  member: 'Member of the group',
  wrapper: 'Wrapped by',
};

function outermostFirst(chain: readonly Thrown[], form: Form): string {
  const blocks = chain.map((thrown, i) => {
    const lines = thrown.frames.map((frame) => form.write(frame));
    const indent = '  '.repeat(Math.max(0, thrown.level - 1));
    return (i === 0 ? lines : [`${indent}${RELATIONS[thrown.relation]}: ${headingOf(thrown)}`, ...lines]).join('\n');
  });
  return blocks.filter((block) => block !== '').join('\n');
}

const AROUND = '\n\nThe above exception only carries the following exception:\n\n';
const BETWEEN = '\n\nThe above exception was the cause of the following exception:\n\n';
const TRACEBACK = 'Traceback (most recent call last):';

/** Python prints the cause first, the crash frame last, and group members below it. */
function innermostLast(chain: readonly Thrown[]): string {
  const [first] = chain;
  if (first === undefined) return '';
  const firstMember = chain.findIndex(({ relation }) => relation === 'member');
  const isGroup = firstMember > 0;
  const own = isGroup ? chain.slice(0, firstMember) : chain;
  const isWrapped = own.some(({ relation }) => relation === 'wrapper');
  const blocks = own
    .map((thrown, i) => ({ thrown, text: pythonBlock(thrown, i > 0 || isGroup || isWrapped).join('\n') }))
    .filter((block) => block.text !== '')
    .toReversed();
  const text = blocks
    .map((block, i) => `${i === 0 ? '' : blocks[i - 1]?.thrown.relation === 'wrapper' ? AROUND : BETWEEN}${block.text}`)
    .join('');
  if (!isGroup) return text;
  const members = new Members();
  for (const thrown of chain.slice(firstMember)) members.add(thrown);
  return [text, members.text].join('\n');
}

function pythonBlock(thrown: Thrown, titled: boolean): string[] {
  const lines = thrown.frames.map((frame) => PYTHON.write(frame)).reverse();
  const trace = lines.length === 0 ? [] : [TRACEBACK, ...lines];
  return titled ? [...trace, headingOf(thrown)] : trace;
}

/** Formats group members like Python: numbered, nested groups indented, causes above the member. */
class Members {
  readonly #lines: string[] = [];
  readonly #counts: number[] = [];
  #start = 0;
  #level = 1;

  add(thrown: Thrown): void {
    // A member is at most one level deeper than the previous one.
    const level = Math.min(Math.max(1, thrown.level), this.#counts.length + 1);
    if (thrown.relation === 'member') this.#member(thrown, level);
    else
      this.#lines.splice(
        this.#start,
        0,
        ...barred(thrown, this.#level),
        ...BETWEEN_LINES.map((l) => bar(l, this.#level)),
      );
  }

  #member(thrown: Thrown, level: number): void {
    this.#counts.length = level;
    const number = (this.#counts[level - 1] ?? 0) + 1;
    this.#counts[level - 1] = number;
    const indent = '  '.repeat(level);
    this.#lines.push(`${indent}${number === 1 ? '+-+' : '  +'}---------------- ${number} ----------------`);
    this.#start = this.#lines.length;
    this.#level = level;
    this.#lines.push(...barred(thrown, level));
  }

  get text(): string {
    return this.#lines.join('\n');
  }
}

const bar = (line: string, level: number): string => `${'  '.repeat(level + 1)}| ${line}`;
const barred = (thrown: Thrown, level: number): string[] =>
  pythonBlock(thrown, true)
    .flatMap((line) => line.split('\n'))
    .map((line) => bar(line, level));
const BETWEEN_LINES = BETWEEN.trim().split('\n');
