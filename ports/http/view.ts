import { Answer, type Cookie } from './answer.js';

/** Rejection details of a redisplayed form. */
export interface RejectedFormDetails {
  code: string;
  message: string;
  fields: Record<string, string>;
}

export class View extends Answer {
  status = 200;
  /** Sent instead of the page to scripts that request JSON. */
  refusal: RejectedFormDetails | null = null;
  holdsSecret = false;
  isDocument = false;
  isPublicLayout = false;
  onceThen: { label: string; href: string } | null = null;
  constructor(
    readonly template: string,
    readonly context: Record<string, unknown> = {},
  ) {
    super();
  }
  withStatus(status: number): this {
    this.status = status;
    return this;
  }
  /** Marks the view as a rejected form. */
  withRejection(status: number, refusal: RejectedFormDetails): this {
    this.refusal = refusal;
    return this.withStatus(status);
  }
  /** Renders the view as a complete document, without layout. */
  withoutLayout(): this {
    this.isDocument = true;
    return this;
  }
  /** Renders the view for visitors, with their layout, even when someone is signed in. */
  withPublicLayout(): this {
    this.isPublicLayout = true;
    return this;
  }
  /**
   * Disables compression for a page with a reusable secret: next to attacker-chosen text, the
   * compressed size would leak it.
   */
  withSecret(): this {
    this.holdsSecret = true;
    return this;
  }
  /**
   * Redirects to a page that renders this view once. The context must be JSON.
   * @param back link to continue
   */
  asOneTimeView(back: { label: string; href: string }): this {
    this.onceThen = back;
    return this;
  }
}

export interface Flash {
  tone: 'success' | 'warning' | 'danger' | 'info';
  message: string;
  /** Button that posts to this path, for undo. */
  action?: { label: string; post: string };
}

/** Redirect with 303. The flash appears once on the next page. */
export class Redirect {
  cookies: Cookie[] = [];
  /** Falls back to `/` unless GET serves a page there. */
  isUntrusted = false;
  constructor(
    readonly location: string,
    readonly flash?: Flash,
  ) {}
  /** Redirects to a location from the request. */
  static toUntrusted(location: string, flash?: Flash): Redirect {
    return Object.assign(new Redirect(location, flash), { isUntrusted: true });
  }
  cookie(cookie: Cookie): this {
    this.cookies.push(cookie);
    return this;
  }
}
