import type { DeliveryId } from "../../values/Ids.ts"
import type { DeliveryBudget } from "./DeliveryBudget.ts"

/** The deliveries of one webhook that are in memory, counted for the whole node as well. */
export class Held {
  readonly #allowance: DeliveryBudget["Service"]
  readonly #ids = new Set<DeliveryId>()

  constructor(allowance: DeliveryBudget["Service"]) {
    this.#allowance = allowance
  }

  get size(): number {
    return this.#ids.size
  }

  get ids(): ReadonlyArray<DeliveryId> {
    return [...this.#ids]
  }

  has(id: DeliveryId): boolean {
    return this.#ids.has(id)
  }

  /** False when it was there already. */
  add(id: DeliveryId): boolean {
    if (this.#ids.has(id)) return false
    this.#ids.add(id)
    this.#allowance.count(1)
    return true
  }

  delete(id: DeliveryId): void {
    if (this.#ids.delete(id)) this.#allowance.count(-1)
  }
}
