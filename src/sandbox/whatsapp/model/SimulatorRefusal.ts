/** Why the simulator cannot do what it was asked for; the message is for the person who asked. */
export class SimulatorRefusal extends Error {
  override readonly name = "SimulatorRefusal"
}
