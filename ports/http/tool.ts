/**
 * Exposes a route as a tool for agents (`/mcp`), with its combined params, query and body. Argument
 * names are unique within a route.
 */
export interface ToolSpec {
  /** Lower case, unique among all plugins: `claim`. */
  name: string;
  /** Title for users. It costs agents context at every start, so omit it for clear names. */
  title?: string;
  /** Instructions for the model: purpose, when to use it, result. */
  description: string;
  /** Changes nothing. */
  readOnly?: boolean;
  /** Overwrites or removes data; otherwise it only adds or reserves. */
  destructive?: boolean;
  /** Repeats with the same arguments change nothing more. */
  idempotent?: boolean;
  /** Accepted arguments; default: all of the route's. */
  only?: readonly string[];
  /** Excluded arguments. */
  omit?: readonly string[];
  /** Constant arguments, hidden from the agent. */
  fixed?: Readonly<Record<string, unknown>>;
  /** Argument → accepted choices; choices that are always rejected mislead a model. */
  choices?: Readonly<Record<string, readonly string[]>>;
  /** Default arguments. */
  defaults?: Readonly<Record<string, unknown>>;
  /** Argument → description that replaces the schema's; empty: none, for self-explanatory names. */
  describe?: Readonly<Record<string, string>>;
  /**
   * Response members with external text, at any depth. An object's own `untrusted_fields` takes
   * precedence.
   */
  untrusted?: readonly string[];
  /** Characters shown of each external text, unless the agent requests more. */
  textLimit?: number;
  /** Transforms the response data (without envelope) for the agent; default: unchanged. */
  answer?: (data: Readonly<Record<string, unknown>>) => Record<string, unknown>;
  /**
   * Transforms error members other than code, message and fields for the agent; default: unchanged.
   */
  refusal?: (error: Readonly<Record<string, unknown>>) => Record<string, unknown>;
}

export interface UserTextPart {
  text: string;
  /** Quotes words of others, which count as external text. */
  quoted: boolean;
}

/**
 * Text of a signed-in user, shown as the user's own words except for quotes, which are external
 * text.
 */
export class UserText {
  constructor(readonly parts: readonly UserTextPart[]) {}
}
