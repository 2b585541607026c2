/**
 * Exceptions that only wrap another (contract 21, amendments): reflection, executors, frameworks,
 * rendering, groups of one. Grouping and titles use the wrapped one.
 */

const WRAPPER_CLASSES = new Set([
  'InvocationTargetException',
  'UndeclaredThrowableException',
  'ExecutionException',
  'CompletionException',
  'ExceptionInInitializerError',
  'PrivilegedActionException',
  'NestedServletException',
  'ListenerExecutionFailedException',
  'UnsatisfiedDependencyException',
  'BeanCreationException',
  'BeanInstantiationException',
  'TransactionSystemException',
  'RollbackException',
  'EJBException',
  'HandlerFailedException',
  'UncheckedExecutionException',
  'ReactiveException',
  'UndeliverableException',
  'OnErrorNotImplementedException',
  'BoxedError',
  'ViewException',
  'TargetInvocationException',
  'AggregateException',
  'TypeInitializationException',
  'HttpUnhandledException',
  'DependencyResolutionException',
  'ExceptionGroup',
  'BaseExceptionGroup',
  'RetryError',
  'AggregateError',
]);

/** For any class. */
const WRAPPER_MESSAGES = [
  /^There was an error (?:during concurrent rendering|while hydrating)/,
  /^Minified React error #(?:42[1236]|520)\b/,
  /^Exception has been thrown by the target of an invocation/,
  /^An error occurred while (?:saving the entity changes|updating the entries)/,
  /\bsee (?:the )?inner exception/i,
  /^(?:One or more errors occurred|All promises were rejected|unhandled errors in a TaskGroup)/,
  /^(?:Request processing failed|Handler dispatch failed|Handler processing failed|Failed to load ApplicationContext)/,
  /^(?:Could not commit JPA transaction|Error while committing the transaction|Job threw an unhandled exception)/,
  /^(?:Listener (?:method|threw)\b|An exception has been thrown during the rendering of a template)/,
  /^(?:Unhandled|Uncaught) (?:error|exception|promise rejection)\.?$/i,
];
const MAX_MESSAGE_LENGTH = 300;

/** Callers must check that it has a cause. */
export function isWrapperError(type: string | null, message: string | null): boolean {
  const last = type?.slice(type.search(/[^.\\:$+]*$/)) ?? '';
  if (WRAPPER_CLASSES.has(last) || QUALIFIED_WRAPPER_CLASSES.has(type ?? '')) return true;
  const start = (message ?? '').slice(0, MAX_MESSAGE_LENGTH);
  return WRAPPER_MESSAGES.some((pattern) => pattern.test(start));
}

/** Their last segment is ambiguous. */
const QUALIFIED_WRAPPER_CLASSES = new Set(['ActionView::Template::Error']);

/**
 * Returns whether an exception repeats its cause, as Java's `new RuntimeException(cause)` does:
 * `IOException: x`.
 */
export function isRepeatedCause(
  message: string | null,
  cause: { type: string | null; message: string | null },
): boolean {
  if (message === null || cause.type === null) return false;
  return message === cause.type || message === `${cause.type}: ${cause.message ?? ''}`;
}

export interface InnerError {
  type: string;
  message: string;
  /** 0 where frames are printed first. */
  line: number;
}

const JAVA_CAUSE_PATTERN = /^\s{0,8}Caused by: (?:[\w.-]{1,100}\/)?([\w.$]{1,300})(?:: (.{0,2000}))?$/;
const NODE_CAUSE_PATTERN =
  /^\s{0,40}\[cause\]: (?:Uncaught )?([A-Za-z_$][\w.$]{0,200})(?: \[[A-Z_]{1,60}\])?(?:: (.{0,2000}?))?( \{)?$/;
const HEADER_PATTERN =
  /^(?:Exception in thread "[^"\n]{0,200}" |Uncaught |Unhandled exception\. |\[)?([A-Za-z_][\w.$+`]{0,300})(?:: (.{0,2000}?))?(?:\] \{)?$/;
const DOTNET_CAUSE_PATTERN =
  / ---> (?:\(Inner Exception #(\d{1,4})\) )?([A-Za-z_][\w.+`]{0,300}(?:\[[^\]\n]{0,200}\])?)(?:: ([^\n]{0,2000}?))?(?=<---| ---> |$)/gm;
const MEMBER_PATTERN = /^\s{0,20}\|\s{1,40}([A-Za-z_][\w.]{0,200})(?:: (.{0,2000}))?$/;
const FIRST_MEMBER_LINE = '+---------------- 1 ----------------';
const MAX_LINE_LENGTH = 65_536;
const MAX_TRACE_LINES = 2_000;

const INNER_ERROR_HINT = /Caused by: |\[cause\]: |\[errors\]: \[| ---> |\+-{16} 1 -{16}/;

/**
 * Finds the wrapped exception of a printed trace: the first that is not a wrapper.
 * @returns null: not a wrapper, or no inner exception
 */
export function findInnerError(trace: string, type?: string | null, message?: string | null): InnerError | null {
  const text = trace.slice(0, MAX_LINE_LENGTH);
  if (!INNER_ERROR_HINT.test(text)) return null;
  const lines = text.split('\n', MAX_TRACE_LINES).map((line) => line.trimEnd());
  const header = HEADER_PATTERN.exec(lines.find((line) => line !== '') ?? '');
  const [outer, outerMessage] =
    type === undefined ? [header?.[1] ?? null, header?.[2] ?? null] : [type, message ?? null];
  const isWrapped = isWrapperError(outer, outerMessage) || isFirstCauseRepeated(outerMessage, lines);
  if (!isWrapped && !(type === undefined && text.includes(FIRST_MEMBER_LINE))) return null;
  if (text.includes(FIRST_MEMBER_LINE)) return findSingleMember(lines, text);
  return findDotnetError(text) ?? findChainedError(lines) ?? getOnlyError(parseAggregateErrors(lines));
}

function findChainedError(lines: readonly string[]): InnerError | null {
  const causes = parseCauses(lines);
  const at = causes.findIndex(({ type, message }, i) => {
    const next = causes[i + 1];
    return !isWrapperError(type, message) && !(next !== undefined && isRepeatedCause(message, next));
  });
  return causes.at(at) ?? null;
}

function isFirstCauseRepeated(outerMessage: string | null, lines: readonly string[]): boolean {
  const [first] = outerMessage === null || outerMessage === '' ? [] : parseCauses(lines);
  return first !== undefined && isRepeatedCause(outerMessage, first);
}

const parseCauses = (lines: readonly string[]): InnerError[] =>
  lines.flatMap((line, at) => {
    const cause = line.includes('Caused by: ')
      ? JAVA_CAUSE_PATTERN.exec(line)
      : line.includes('[cause]: ')
        ? NODE_CAUSE_PATTERN.exec(line)
        : null;
    return cause === null ? [] : [{ type: cause[1] ?? '', message: cause[2] ?? '', line: at }];
  });

function findDotnetError(text: string): InnerError | null {
  let found: InnerError | null = null;
  for (const [, number, type = '', message = ''] of text.matchAll(DOTNET_CAUSE_PATTERN)) {
    // The message of an aggregate lists its members.
    if (number !== undefined && number !== '0') return null;
    if (found !== null && !isWrapperError(found.type, found.message)) continue;
    if (found === null || number === undefined) found = { type, message: message.trim(), line: 0 };
  }
  return found;
}

/** At any depth. */
function findSingleMember(lines: readonly string[], text: string): InnerError | null {
  if (/\+-{16} 2 -{16}/.test(text)) return null;
  const start = lines.findLastIndex((line) => line.includes(FIRST_MEMBER_LINE));
  const end = lines.findIndex((line, at) => at > start && /^[\s|]*\+-{20,}$/.test(line));
  const inside = lines.slice(start + 1, end < 0 ? undefined : end);
  // Source lines of a frame are indented further than the exception.
  const bar = Math.min(
    ...inside
      .filter((line) => line.includes('| '))
      .map((line) => line.search(/[^\s|]/))
      .filter((at) => at >= 0),
  );
  const named = inside.filter((line) => line.search(/[^\s|]/) === bar && !line.includes('Traceback ('));
  const found = named.map((line) => MEMBER_PATTERN.exec(line)).find((one) => one !== null);
  return found ? { type: found[1] ?? '', message: found[2] ?? '', line: start } : null;
}

const getOnlyError = (errors: readonly InnerError[]): InnerError | null =>
  errors.length === 1 ? (errors[0] ?? null) : null;

const ERRORS_START_PATTERN = /^\s{0,40}\[errors\]: \[$/;
const NODE_ERROR_PATTERN = /^( {2,40})\[?([A-Za-z_$][\w.$]{0,200}?)(?:: (.{0,2000}?))?\]?,?(?: \{)?$/;

function parseAggregateErrors(lines: readonly string[]): InnerError[] {
  const start = lines.findIndex((line) => ERRORS_START_PATTERN.test(line));
  if (start < 0) return [];
  const indent = lines[start + 1]?.search(/\S/) ?? 0;
  return lines.flatMap((line, at) => {
    if (at <= start || line.search(/\S/) !== indent) return [];
    const found = NODE_ERROR_PATTERN.exec(line);
    return found === null ? [] : [{ type: found[2] ?? '', message: found[3] ?? '', line: at }];
  });
}

const PYTHON_MEMBER_PATTERN =
  /^\s{2,40}\| ([A-Za-z_][\w.]{0,200}(?:Error|Exception|Group|Exit|Interrupt|Warning|Timeout))(?:: |$)/;

/** Lists the member classes of a printed group with several members; otherwise empty. */
export function listMemberTypes(trace: string): string[] {
  const text = trace.slice(0, MAX_LINE_LENGTH);
  const isPython = text.includes(FIRST_MEMBER_LINE);
  if (!isPython && !text.includes('[errors]: [')) return [];
  const lines = text.split('\n', MAX_TRACE_LINES).map((line) => line.trimEnd());
  const start = lines.findIndex((line) => line.includes(FIRST_MEMBER_LINE));
  const types = isPython
    ? lines.slice(start).flatMap((line) => PYTHON_MEMBER_PATTERN.exec(line)?.[1] ?? [])
    : parseAggregateErrors(lines).map(({ type }) => type);
  return types.length > 1 ? types : [];
}
