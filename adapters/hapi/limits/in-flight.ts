/** How many requests the process works at, and whether it still takes more. */
export class InFlight {
  count = 0;
  stopping = false;
  constructor(readonly most: number) {}
  get full(): boolean {
    return this.count >= this.most;
  }
}
