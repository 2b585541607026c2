/**
 * Like the language itself, or like V8 without the data for it. The message is omitted, because it
 * could look like a frame.
 */
import { formatHeading, type ExceptionRelation, type ChainedException } from './exception-chain.js';
import { maskNamesInText } from '../../lib/text/generated-names.js';
import { findOwnFrame, type StackFrame } from './stack-frames.js';

export interface FormattedStack {
  text: string;
  file: string | null;
  line: number | null;
  function: string | null;
}

interface TraceFormat {
  canFormat(own: StackFrame): boolean;
  write(frame: StackFrame): string;
  getFile(frame: StackFrame): string | null;
}

const GENERIC_FORMAT: TraceFormat = {
  canFormat: () => true,
  write: ({ place, function: name, line, column }) => {
    // Needed to be parsed as a place.
    const where = place === null ? '<anonymous>' : `${place}:${line ?? 0}${column === null ? '' : `:${column}`}`;
    return name === null ? `    at ${where}` : `    at ${name.replaceAll(' (', '(')} (${where})`;
  },
  getFile: ({ place }) => place,
};

/** `File "cart.py", line 41, in total`, followed by the source line. */
const PYTHON_FORMAT: TraceFormat = {
  canFormat: ({ place }) => place !== null,
  write: ({ place, absPath, inApp, function: name, line, code }) => {
    if (place === null) return `  in ${name ?? '?'}`;
    // `json/decoder.py` does not identify the package.
    const path = inApp === false ? (absPath ?? place) : place;
    const head = `  File "${path.replaceAll('"', "'")}", line ${line ?? 0}, in ${name ?? '<module>'}`;
    // Could be parsed as a frame.
    return code === null || code.includes('File "') ? head : `${head}\n    ${code.trim()}`;
  },
  getFile: ({ place }) => place,
};

const JAVA_FILE_PATTERN = /^[\w$.-]{1,200}\.[A-Za-z]{1,10}$/;
/** The last segment needs more than `$`, because it names the file. */
const JAVA_CLASS_PATTERN = /^(?:[\w$]{1,200}\.){0,30}\$*\w[\w$]{0,199}$/;
const JAVA_METHOD_PATTERN = /^[\w$<>-]{1,300}$/;
const hasJavaFile = ({ file }: StackFrame): boolean => file !== null && JAVA_FILE_PATTERN.test(file);

/** `com.acme.Cart.total(Cart.java:41)`; package and file form the place. */
const JAVA_FORMAT: TraceFormat = {
  canFormat: ({ module, function: name }) =>
    JAVA_CLASS_PATTERN.test(module ?? '') && JAVA_METHOD_PATTERN.test(name ?? ''),
  write: (frame) => {
    const { module, function: name, file, line } = frame;
    const number = line === null ? '' : `:${line}`;
    // Java's text for an unknown file.
    const source = hasJavaFile(frame) ? `${file}${number}` : number === '' ? 'Unknown Source' : `SourceFile${number}`;
    return `\tat ${module === null ? '' : `${module}.`}${name ?? '?'}(${source})`;
  },
  getFile: (frame) => {
    const parts = maskNamesInText(frame.module ?? '').split('.');
    const type = parts.pop() ?? '';
    const named = type.split('$').find((part) => part !== '') ?? type;
    return [...parts, hasJavaFile(frame) ? frame.file : `${named}.java`].join('/');
  },
};

const GO_FILE_PATTERN = /^[^ ]+\.go$/;
/** Skipped by the Go trace parser. */
const GO_RUNTIME_PATTERN = /(?:^|\/src\/)runtime\//;

/** The place is below the function. */
const GO_FORMAT: TraceFormat = {
  canFormat: ({ place, module }) =>
    GO_FILE_PATTERN.test(place ?? '') && !GO_RUNTIME_PATTERN.test(place ?? '') && module !== 'runtime',
  write: ({ module, function: name, place, line }) =>
    `${module === null ? '' : `${module}.`}${name ?? '?'}(...)\n\t${place ?? '?'}:${line ?? 0}`,
  getFile: ({ place }) => place,
};

const NET_NAME_PATTERN = /^[\p{L}_<][\p{L}\p{N}_.`<>+$|,[\]@&-]*$/u;
const NET_PATH_PATTERN = /^(?:[A-Za-z]:)?[\\/]|^[\p{L}\p{N}_.-]{1,100}[\\/]/u;

const MAX_NET_NAME_LENGTH = 1000;
/** Newer SDKs send `decimal Cart.Total`; the module already names the type. */
const NET_RETURN_TYPE_PATTERN = /^.*[^,]\s(?=\S)/u;

const toNetName = ({ module, function: name }: StackFrame): string => {
  const given = (name ?? '').slice(0, MAX_NET_NAME_LENGTH).split('(', 1)[0]?.trim() ?? '';
  const spoken = given.replace(NET_RETURN_TYPE_PATTERN, '');
  const method = spoken === given || module === null ? spoken : spoken.slice(spoken.lastIndexOf('.') + 1);
  return module === null || method.startsWith(`${module}.`) ? method : `${module}.${method}`;
};
const toNetPath = ({ file, absPath }: StackFrame): string | null =>
  [file, absPath].find((path) => path !== null && NET_PATH_PATTERN.test(path)) ?? null;

/** `at Acme.Cart.Total() in /src/Cart.cs:line 41`. Without a file the method is the place. */
const DOTNET_FORMAT: TraceFormat = {
  canFormat: (own) => {
    const name = toNetName(own);
    return NET_NAME_PATTERN.test(name) && name.includes('.') && (toNetPath(own) !== null || own.file === null);
  },
  write: (frame) => {
    const path = toNetPath(frame);
    return `   at ${toNetName(frame)}()${path === null ? '' : ` in ${path}:line ${frame.line ?? 0}`}`;
  },
  getFile: (frame) => toNetPath(frame) ?? frame.module,
};

const TRACE_FORMATS: Readonly<Record<string, TraceFormat>> = {
  python: PYTHON_FORMAT,
  java: JAVA_FORMAT,
  go: GO_FORMAT,
  csharp: DOTNET_FORMAT,
};

export function formatStack(chain: readonly ChainedException[], platform: string | null): FormattedStack | null {
  const frames = getFirstFrames(chain);
  const own = findOwnFrame(frames);
  if (own === null) return null;
  const form = chooseFormat(own, platform);
  const text = form === PYTHON_FORMAT ? formatInnermostLast(chain) : formatOutermostFirst(chain, form);
  return { text, file: form.getFile(own), line: own.line, function: getQualifiedFunction(own, platform) };
}

function chooseFormat(own: StackFrame, platform: string | null): TraceFormat {
  const native = Object.hasOwn(TRACE_FORMATS, platform ?? '') ? TRACE_FORMATS[platform ?? ''] : undefined;
  return native?.canFormat(own) ? native : GENERIC_FORMAT;
}

export function findPlace(
  frames: readonly StackFrame[],
  platform: string | null,
): Pick<FormattedStack, 'file' | 'function'> {
  const own = findOwnFrame(frames);
  if (own === null) return { file: null, function: null };
  return { file: chooseFormat(own, platform).getFile(own), function: getQualifiedFunction(own, platform) };
}

const CLASS_MODULE_LANGUAGES = new Set(['java', 'csharp', 'kotlin', 'scala', 'groovy', 'dart']);

/** Qualified by its class for inner classes, coroutines and state machines. */
function getQualifiedFunction(frame: StackFrame, platform: string | null): string | null {
  const { function: name, file } = frame;
  if (name === null || frame.module === null || !CLASS_MODULE_LANGUAGES.has(platform ?? '')) return name;
  // Hidden classes have a slash.
  const module = frame.module.includes('/') ? maskNamesInText(frame.module) : frame.module;
  const type = module.slice(module.search(/[^./]*$/));
  const outer = file?.replace(/^.*[\\/]/, '').replace(/\.\w+$/, '');
  if (outer === undefined || type === outer || type === `${outer}Kt` || name.startsWith(`${type}.`)) return name;
  // The file already names this class.
  const inner = type.startsWith(`${outer}$`) || type.startsWith(`${outer}+`) ? type.slice(outer.length + 1) : type;
  // Anonymous classes need the preceding character.
  return `${/^\d/.test(inner) ? type : inner}.${name}`;
}

export const getFirstFrames = (chain: readonly ChainedException[]): readonly StackFrame[] =>
  chain.find(({ frames }) => frames.length > 0)?.frames ?? [];

const RELATION_LABELS: Readonly<Record<ExceptionRelation, string>> = {
  cause: 'Caused by',
  member: 'Member of the group',
  wrapper: 'Wrapped by',
};

function formatOutermostFirst(chain: readonly ChainedException[], form: TraceFormat): string {
  const blocks = chain.map((thrown, i) => {
    const lines = thrown.frames.map((frame) => form.write(frame));
    const indent = '  '.repeat(Math.max(0, thrown.level - 1));
    return (
      i === 0 ? lines : [`${indent}${RELATION_LABELS[thrown.relation]}: ${formatHeading(thrown)}`, ...lines]
    ).join('\n');
  });
  return blocks.filter((block) => block !== '').join('\n');
}

const WRAPPER_SEPARATOR = '\n\nThe above exception only carries the following exception:\n\n';
const CAUSE_SEPARATOR = '\n\nThe above exception was the cause of the following exception:\n\n';
const TRACEBACK_HEADER = 'Traceback (most recent call last):';

/** As in Python: the cause first, the crash frame last, group members below. */
function formatInnermostLast(chain: readonly ChainedException[]): string {
  const [first] = chain;
  if (first === undefined) return '';
  const firstMember = chain.findIndex(({ relation }) => relation === 'member');
  const isGroup = firstMember > 0;
  const own = isGroup ? chain.slice(0, firstMember) : chain;
  const isWrapped = own.some(({ relation }) => relation === 'wrapper');
  const blocks = own
    .map((thrown, i) => ({ thrown, text: formatPythonBlock(thrown, i > 0 || isGroup || isWrapped).join('\n') }))
    .filter((block) => block.text !== '')
    .toReversed();
  const text = blocks
    .map(
      (block, i) =>
        `${i === 0 ? '' : blocks[i - 1]?.thrown.relation === 'wrapper' ? WRAPPER_SEPARATOR : CAUSE_SEPARATOR}${block.text}`,
    )
    .join('');
  if (!isGroup) return text;
  const members = new GroupMemberFormatter();
  for (const thrown of chain.slice(firstMember)) members.add(thrown);
  return [text, members.text].join('\n');
}

function formatPythonBlock(thrown: ChainedException, titled: boolean): string[] {
  const lines = thrown.frames.map((frame) => PYTHON_FORMAT.write(frame)).reverse();
  const trace = lines.length === 0 ? [] : [TRACEBACK_HEADER, ...lines];
  return titled ? [...trace, formatHeading(thrown)] : trace;
}

/** As in Python: numbered, nested groups indented, causes above the member. */
class GroupMemberFormatter {
  readonly #lines: string[] = [];
  readonly #counts: number[] = [];
  #start = 0;
  #level = 1;

  add(thrown: ChainedException): void {
    // At most one level deeper than the previous one.
    const level = Math.min(Math.max(1, thrown.level), this.#counts.length + 1);
    if (thrown.relation === 'member') this.#addMember(thrown, level);
    else
      this.#lines.splice(
        this.#start,
        0,
        ...addBars(thrown, this.#level),
        ...CAUSE_SEPARATOR_LINES.map((l) => addBar(l, this.#level)),
      );
  }

  #addMember(thrown: ChainedException, level: number): void {
    this.#counts.length = level;
    const number = (this.#counts[level - 1] ?? 0) + 1;
    this.#counts[level - 1] = number;
    const indent = '  '.repeat(level);
    this.#lines.push(`${indent}${number === 1 ? '+-+' : '  +'}---------------- ${number} ----------------`);
    this.#start = this.#lines.length;
    this.#level = level;
    this.#lines.push(...addBars(thrown, level));
  }

  get text(): string {
    return this.#lines.join('\n');
  }
}

const addBar = (line: string, level: number): string => `${'  '.repeat(level + 1)}| ${line}`;
const addBars = (thrown: ChainedException, level: number): string[] =>
  formatPythonBlock(thrown, true)
    .flatMap((line) => line.split('\n'))
    .map((line) => addBar(line, level));
const CAUSE_SEPARATOR_LINES = CAUSE_SEPARATOR.trim().split('\n');
