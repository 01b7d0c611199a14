export { layerBaileys as WhatsAppSocketLayer, liveUrl } from "./BaileysSocket.ts"
