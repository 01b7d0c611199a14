/** What a list says about itself. A service that pages by cursor adds `next_cursor`. */
export interface ListMeta {
  readonly total?: number
  readonly page?: number
  readonly per_page?: number
  readonly next_cursor?: string | null
}

/** Query parameters by name; undefined and null are left out. */
export interface Query {
  readonly [name: string]: unknown
}

interface Answer<Item> {
  readonly data: ReadonlyArray<Item>
  readonly meta: ListMeta
}

type Load<Item> = (query: Query) => Promise<Answer<Item>>

/** The query of the page after this one; undefined after the last. A cursor misses nothing while rows are added. */
const following = (query: Query, { data, meta }: Answer<unknown>): Query | undefined => {
  const { next_cursor, page, per_page, total } = meta
  if (next_cursor !== undefined) {
    return next_cursor === null ? undefined : { ...query, page: undefined, cursor: next_cursor }
  }
  if (page === undefined || per_page === undefined || total === undefined || data.length === 0) return undefined
  return page * per_page < total ? { ...query, page: page + 1 } : undefined
}

/** One page of a list. Iterate over it for the items of this page and of all later ones. */
export class Page<Item> implements AsyncIterable<Item> {
  readonly data: ReadonlyArray<Item>
  readonly meta: ListMeta
  readonly #load: Load<Item>
  readonly #next: Query | undefined

  constructor(load: Load<Item>, query: Query, answer: Answer<Item>) {
    this.data = answer.data
    this.meta = answer.meta
    this.#load = load
    this.#next = following(query, answer)
  }

  /** Whether another page follows. */
  get hasNext(): boolean {
    return this.#next !== undefined
  }

  /** The page after this one; undefined after the last. */
  async next(): Promise<Page<Item> | undefined> {
    const query = this.#next
    return query && new Page(this.#load, query, await this.#load(query))
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    yield* this.data
    for (let page = await this.next(); page !== undefined; page = await page.next()) yield* page.data
  }
}

/** A list that was asked for: await its first page, or iterate over the items of all pages. */
export class List<Item> implements PromiseLike<Page<Item>>, AsyncIterable<Item> {
  readonly #load: Load<Item>
  readonly #query: Query
  #first: Promise<Page<Item>> | undefined

  constructor(load: Load<Item>, query: Query = {}) {
    this.#load = load
    this.#query = query
  }

  /** The first page. The request is made once, when it is first needed. */
  firstPage(): Promise<Page<Item>> {
    this.#first ??= this.#load(this.#query).then((answer) => new Page(this.#load, this.#query, answer))
    return this.#first
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a list can be awaited
  then<A = Page<Item>, B = never>(
    done?: ((page: Page<Item>) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null
  ): Promise<A | B> {
    return this.firstPage().then(done, failed)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    yield* await this.firstPage()
  }
}
