-- wrk -s pipeline.lua URL -- N: N requests in one write.
init = function(args)
   local one = wrk.format("GET", "/")
   local all = {}
   for i = 1, tonumber(args[1]) do
      all[i] = one
   end
   request_bytes = table.concat(all)
end

request = function()
   return request_bytes
end
