/** What makes a tool for agents of a route. */

/**
 * A route as a tool for agents (`/mcp`). Its input is the route's own, params, query and body put together, so that a
 * tool knows no rule that the route does not know. Names of arguments are unique within a route.
 */
export interface ToolSpec {
  /** `claim`: lower case; unique among all plugins. */
  name: string;
  /** For the users of clients. Every agent pays for it at every start, so a name that says enough needs none. */
  title?: string;
  /** For the model that chooses among tools: what it does, when to use it, what comes back. */
  description: string;
  /** It changes nothing. */
  readOnly?: boolean;
  /** It overwrites or removes; otherwise it only adds or reserves. */
  destructive?: boolean;
  /** Called again with the same arguments it changes nothing more. */
  idempotent?: boolean;
  /** The only arguments that it takes; absent: all of the route's. */
  only?: readonly string[];
  /** Arguments of the route that it does not take. */
  omit?: readonly string[];
  /** What it always sends; the agent can neither see nor change it. */
  fixed?: Readonly<Record<string, unknown>>;
  /** Argument → the only ones of its choices that the tool takes: a choice that is always refused misleads a model. */
  choices?: Readonly<Record<string, readonly string[]>>;
  /** What it sends when the agent says nothing. */
  defaults?: Readonly<Record<string, unknown>>;
  /** Argument → description, in place of the one in the route's schema; empty: none, since the name says it. */
  describe?: Readonly<Record<string, string>>;
  /**
   * Names of members of the answer, at any depth, whose text came from outside. An object's own `untrusted_fields`
   * decides for it.
   */
  untrusted?: readonly string[];
  /** Characters of each text from outside that are shown unless the agent asks for another number. */
  textLimit?: number;
  /** What the agent is shown of the route's answer (data fields without the envelope); absent: all of it. */
  answer?: (data: Readonly<Record<string, unknown>>) => Record<string, unknown>;
  /** What the agent is shown of a refusal's members other than code, message and fields; absent: all of them. */
  refusal?: (error: Readonly<Record<string, unknown>>) => Record<string, unknown>;
}

export interface UserTextPart {
  text: string;
  /** Whether the user repeats words of others: they count as text from outside. */
  quoted: boolean;
}

/** A text that a signed-in user wrote. It is shown as the user's own words, and only what it quotes as outside text. */
export class UserText {
  constructor(readonly parts: readonly UserTextPart[]) {}
}
